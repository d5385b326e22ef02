"""What a CPU device consists of: threads, their control block, memory, mail and a record."""
