-- Slurm's own `names` of GPUs (the table before this text) in place of the others that the site takes: in what srun, sbatch and salloc
-- are asked and in what steps inherit from their job.

function slurm_cli_setup_defaults(_, _)
  return slurm.SUCCESS
end

function slurm_cli_pre_submit(options, _)
  for _, option in ipairs({"gpus", "gpus-per-node", "gpus-per-socket", "gpus-per-task", "gres"}) do
    local text = options[option]
    if type(text) == "string" then
      local renamed = text:gsub("[^,:]+", names)
      if renamed ~= text then options[option] = renamed end
    end
  end
  return slurm.SUCCESS
end

function slurm_cli_post_submit(_, _, _)
  return slurm.SUCCESS
end

return slurm.SUCCESS
