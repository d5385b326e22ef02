"""The record of a run, made of what CPU devices have left in their memory."""
