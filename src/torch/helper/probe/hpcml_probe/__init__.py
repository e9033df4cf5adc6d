# SPDX-License-Identifier: MIT
# Each module mirrors a file of src/torch/helper or src/ddp, down to the keys in the store: ranks of both can meet.
