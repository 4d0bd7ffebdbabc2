"""What runs on the far side: the zygote, the layers that confine its children, and what the children do.

The zygote loads this folder as a top-level package named `inside`, without the rest of the project; so its files import
each other relatively and nothing else of ours.
"""

LOCKED = b"locked"  # what a child says on its control socket once it is shut in
