// SPDX-License-Identifier: MIT
// Layouts of steps drawn by a seed: what srun is asked, and how many ranks there are to be.
#pragma once

#include <string>
#include <vector>

namespace hpcml::testing {

/// One way of starting ranks in a job.
struct DrawnLayout {
  std::string line;               ///< for bash; prints each rank's own line with srun's label before it
  unsigned tasks = 0;             ///< of the step
  unsigned per_task = 0;          ///< ranks that launch starts in each task; 0: the task becomes one
  bool mpi = false;               ///< started by mpirun, whose label and numbers count
  bool alone = false;             ///< takes what it has for itself: no other such step beside it
  std::vector<std::string> hosts; ///< where each task was asked to be; empty: Slurm's choice
};

/// A job in which layouts run, several at once.
struct DrawnJob {
  std::string request; ///< what salloc or sbatch is asked
  bool script = false; ///< by sbatch; else by salloc
  unsigned array = 0;  ///< tasks of a job array, each of which runs all layouts; 0: no array
  std::vector<DrawnLayout> layouts;
};

/// `count` layouts in jobs on node001 … node006. They find $H (hpcml) and ./show.sh, and write host lists to
/// ./hosts-*.
std::vector<DrawnJob> draw_layouts(unsigned seed, unsigned count, bool with_mpi);

} // namespace hpcml::testing
