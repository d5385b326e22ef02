"""CPU devices: the cores of this machine, as one device with one memory or as several."""
