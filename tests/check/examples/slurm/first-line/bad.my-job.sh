# my job
#!/bin/bash
srun true
