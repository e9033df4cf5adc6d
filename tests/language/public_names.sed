# For HPCML_COMPARE_MAP: public names before and after their change, and the hashes of profiles, which changed with the profiles' keys.
s/profile [0-9a-f]{16}/profile HASH/g
s/--profile-hash [0-9a-f]{16}/--profile-hash HASH/g
s/meet-timeout/rendezvous-timeout/g
s/retry-on/requeue-on/g
s/--spill/--idle-cores/g
s/--coordinator\b/--jax-coordinator/g
s/\bstore serve\b/internal store-serve/g
s/\bstore secret\b/internal job-secret/g
s/("\$HPCML"|hpcml) (bad|healthy)-nodes/\1 internal \2-nodes/g
s/gen --setup/env/g
s/no-job/not-a-job/g
s/slurm\/signal-unheard/slurm\/signal-not-handled/g
s/slurm\/operand/slurm\/unexpected-argument/g
s/slurm\/needs/slurm\/missing-dependency/g
s/site\/time-over/site\/time-limit-exceeded/g
s/site\/time-under/site\/time-limit-too-short/g
s/site\/gpus-of-job/site\/total-gpus/g
s/launch\/ranks-over-gpus/launch\/more-ranks-than-gpus/g
s/launch\/steps-in-turn/launch\/sequential-steps/g
s/launch\/fabric-off/launch\/network-disabled/g
s/launch\/debug-left/launch\/debug-settings/g
s/launch\/no-step/launch\/missing-srun/g
s/site profile always\[/site profile common_options[/g
