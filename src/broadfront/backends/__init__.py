"""Back ends: what runs programs on one kind of device, each behind one contract."""
