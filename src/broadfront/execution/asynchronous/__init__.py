"""Asynchronous execution: devices that never meet, send what improves, and stop when all is done."""
