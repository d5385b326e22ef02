"""The blocks of the loop of many devices, by number: where a test can make a device fail."""

KERNEL, SPLIT, PACKAGE, PUSH, UNPACKAGE, CONVERGENCE = range(1, 7)
NAMES = {
    "kernel": KERNEL,
    "split": SPLIT,
    "package": PACKAGE,
    "push": PUSH,
    "unpackage": UNPACKAGE,
    "convergence": CONVERGENCE,
}
