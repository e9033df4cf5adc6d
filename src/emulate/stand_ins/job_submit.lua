-- Passes each submitted job to the command `evaluate_command` (defined before this text), which applies the site's rules, and acts on its
-- answer. The command gets the name of a file in `directory`. This file has no rule of the site. Lua 5.1, as in Slurm's plugin.

local members = {"account", "partition", "qos", "time_limit", "time_min", "min_nodes", "max_nodes", "num_tasks", "min_cpus",
  "ntasks_per_node", "ntasks_per_gpu", "cpus_per_task", "cpus_per_tres", "pn_min_cpus", "sockets_per_node", "cores_per_socket",
  "threads_per_core", "pn_min_memory", "min_mem_per_cpu", "mem_per_tres", "pn_min_tmp_disk", "tres_per_node", "tres_per_job",
  "tres_per_task", "tres_per_socket", "shared", "req_nodes", "exc_nodes", "features", "reservation", "array_inx", "dependency", "comment", "licenses", "script"}

local function write_field(file, name, value)
  if value == nil or value == "" then return end
  local text = type(value) == "number" and string.format("%.0f", value) or tostring(value)
  file:write(name, " ", #text, "\n", text, "\n")
end

local function write_job(path, desc)
  local file = assert(io.open(path, "wb"))
  for _, name in ipairs(members) do write_field(file, name, desc[name]) end
  write_field(file, "export", desc.environment and desc.environment["SLURM_EXPORT_ENV"])
  file:close()
end

local submitted = 0

-- Returns "taken" or "refused", the partition or nothing, and the messages.
local function ask(desc)
  submitted = submitted + 1
  local path = directory .. "/submitted" .. submitted
  write_job(path, desc)
  local answer = assert(io.popen(evaluate_command .. " " .. path, "r"))
  local word, partition = (answer:read("*l") or ""):match("^(%a+) ?(.*)$")
  local sentences = answer:read("*a"):gsub("\n$", "")
  answer:close()
  os.remove(path)
  return word, partition, sentences
end

function slurm_job_submit(desc, _, _)
  if desc.partition == "hpcml-preempt" then return slurm.SUCCESS end -- a fault's, not the site's: Slurm has it only with such a fault
  local asked, word, partition, sentences = pcall(ask, desc)
  if asked and word == "taken" then
    if partition ~= "" then desc.partition = partition end
    return slurm.SUCCESS
  end
  if not asked or word ~= "refused" then sentences = "hpcml: cannot evaluate the site's rules: " .. tostring(sentences or word) end
  slurm.log_user("%s", sentences)
  return slurm.ESLURM_ACCESS_DENIED
end

function slurm_job_modify(_, _, _, _)
  return slurm.SUCCESS
end

return slurm.SUCCESS
