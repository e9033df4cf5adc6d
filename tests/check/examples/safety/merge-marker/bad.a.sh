#!/bin/bash
srun true
<<<<<<< a
=======
echo
>>>>>>> b
