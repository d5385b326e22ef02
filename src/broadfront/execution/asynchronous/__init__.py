"""Asynchronous execution: devices never meet, send what improves, and stop when all is done."""
