-- Slurm's own `names` of GPUs (the table before this text) in place of the others that the site takes: in what srun, sbatch and salloc
-- are asked and in what steps inherit from their job. A job from a folder that its nodes will not have is said.

function slurm_cli_setup_defaults(_, _)
  return slurm.SUCCESS
end

-- lib/keptN: a place of which each node has its own, then the names in it that all see.
local function warn_of_own_folder()
  local state = (os.getenv("SLURM_CONF") or ""):match("(.*)/")
  local here = (os.getenv("PWD") or "") .. "/"
  if not state or os.getenv("SLURM_JOB_ID") then return end
  for number = 0, 9 do
    local list = io.open(state .. "/lib/kept" .. number)
    if not list then return end
    local place = list:read("*l")
    local name = here:sub(1, #place + 1) == place .. "/" and here:sub(#place + 2):match("[^/]+")
    for line in list:lines() do
      if line == name then name = nil end
    end
    list:close()
    if name then
      slurm.log_error("%s lies in the login node's own %s: the job's nodes have no such folder. Start from one that they share.",
        here:sub(1, -2), place)
    end
  end
end

function slurm_cli_pre_submit(options, _)
  warn_of_own_folder()
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
