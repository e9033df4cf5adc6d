-- Modulefile (Lmod) for the archive of a release, unpacked under /apps/hpcml/VERSION: put it into a folder of $MODULEPATH as hpcml/VERSION.lua.
help([[hpcml writes, checks, rehearses and launches distributed training jobs on Slurm. `hpcml` alone shows the first steps.]])
whatis("Name: hpcml")
whatis("Version: " .. myModuleVersion())
whatis("Description: Slurm job scripts, checks, rehearsals and launches for distributed training")

local root = pathJoin("/apps/hpcml", myModuleVersion())
prepend_path("PATH", pathJoin(root, "bin"))
prepend_path("MANPATH", pathJoin(root, "share/man"))
