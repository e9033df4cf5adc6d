-- Applies `policy` (the table before this text) to each job that is submitted. Lua 5.1, as Slurm's plugin has it.

-- Regular expressions of the profiles (ECMAScript: groups, alternatives, classes, repetition), matched against the whole text.
local regex = {}

local function class_test(letter)
  if letter == "d" then return function(c) return c:match("%d") ~= nil end end
  if letter == "w" then return function(c) return c:match("[%w_]") ~= nil end end
  if letter == "s" then return function(c) return c:match("%s") ~= nil end end
  if letter == "D" or letter == "W" or letter == "S" then
    local positive = class_test(letter:lower())
    return function(c) return not positive(c) end
  end
  return nil
end

local function literal_test(character)
  return function(c) return c == character end
end

-- One member of a class at `i`; returns its test or its character, and the place behind it.
local function class_member(pattern, i)
  local c = pattern:sub(i, i)
  if c ~= "\\" then return nil, c, i + 1 end
  local letter = pattern:sub(i + 1, i + 1)
  return class_test(letter), letter, i + 2
end

local function parse_class(pattern, i)
  local negated = pattern:sub(i, i) == "^"
  if negated then i = i + 1 end
  local tests = {}
  while pattern:sub(i, i) ~= "]" do
    if i > #pattern then error("unclosed class") end
    local test, low, behind = class_member(pattern, i)
    if not test and pattern:sub(behind, behind) == "-" and pattern:sub(behind + 1, behind + 1) ~= "]" then
      local _, high, after = class_member(pattern, behind + 1)
      test, behind = function(c) return c >= low and c <= high end, after
    end
    tests[#tests + 1] = test or literal_test(low)
    i = behind
  end
  return function(c)
    for _, test in ipairs(tests) do
      if test(c) then return not negated end
    end
    return negated
  end, i + 1
end

-- A matcher is f(text, i, go_on): tries to match at i and calls go_on with the place behind.
local function match_one(test)
  return function(text, i, go_on) return i <= #text and test(text:sub(i, i)) and go_on(i + 1) end
end

local function match_repeated(item, low, high)
  local function attempt(count, text, i, go_on)
    if count < high and item(text, i, function(j) return (j > i or count < low) and attempt(count + 1, text, j, go_on) end) then
      return true
    end
    return count >= low and go_on(i)
  end
  return function(text, i, go_on) return attempt(0, text, i, go_on) end
end

local function parse_quantifier(pattern, i)
  local c = pattern:sub(i, i)
  local low, high, behind = nil, nil, i + 1
  if c == "*" then low, high = 0, math.huge
  elseif c == "+" then low, high = 1, math.huge
  elseif c == "?" then low, high = 0, 1
  elseif c == "{" then
    local first, comma, last, rest = pattern:match("^{(%d+)(,?)(%d*)}()", i)
    if not first then error("bad {}") end
    low, behind = tonumber(first), rest
    high = comma == "" and low or tonumber(last) or math.huge
  end
  if low and pattern:sub(behind, behind) == "?" then behind = behind + 1 end
  return low, high, low and behind or i
end

function regex.atom(pattern, i)
  local c = pattern:sub(i, i)
  if c == "(" then
    i = pattern:sub(i + 1, i + 2) == "?:" and i + 3 or i + 1
    local inner, behind = regex.alternatives(pattern, i)
    if pattern:sub(behind, behind) ~= ")" then error("unclosed group") end
    return inner, behind + 1
  end
  if c == "[" then
    local test, behind = parse_class(pattern, i + 1)
    return match_one(test), behind
  end
  if c == "." then return match_one(function(x) return x ~= "\n" end), i + 1 end
  if c == "^" then return function(_, j, go_on) return j == 1 and go_on(j) end, i + 1 end
  if c == "$" then return function(text, j, go_on) return j == #text + 1 and go_on(j) end, i + 1 end
  if c == "\\" then
    local letter = pattern:sub(i + 1, i + 1)
    return match_one(class_test(letter) or literal_test(letter)), i + 2
  end
  return match_one(literal_test(c)), i + 1
end

function regex.sequence(pattern, i)
  local items = {}
  while i <= #pattern and not pattern:sub(i, i):match("[|)]") do
    local item, low, high
    item, i = regex.atom(pattern, i)
    low, high, i = parse_quantifier(pattern, i)
    items[#items + 1] = low and match_repeated(item, low, high) or item
  end
  local function from(n, text, j, go_on)
    if not items[n] then return go_on(j) end
    return items[n](text, j, function(k) return from(n + 1, text, k, go_on) end)
  end
  return function(text, j, go_on) return from(1, text, j, go_on) end, i
end

function regex.alternatives(pattern, i)
  local branches = {}
  repeat
    local branch
    branch, i = regex.sequence(pattern, i)
    branches[#branches + 1] = branch
    local more = pattern:sub(i, i) == "|"
    if more then i = i + 1 end
  until not more
  return function(text, j, go_on)
    for _, branch in ipairs(branches) do
      if branch(text, j, go_on) then return true end
    end
    return false
  end, i
end

-- True or false; nil when the pattern is beyond this matcher, which then must not refuse anything.
local function matches(text, pattern)
  local ok, matcher, behind = pcall(regex.alternatives, pattern, 1)
  if not ok or behind <= #pattern then return nil end
  return matcher(text, 1, function(i) return i == #text + 1 end) and true or false
end

-- What a submission says about each option: its text, or nil when it is not given.
local function word(value)
  if value == nil or value == "" then return nil end
  return tostring(value)
end

local function count(value)
  if value == nil or value == slurm.NO_VAL or value == slurm.NO_VAL16 or value == slurm.NO_VAL64 then return nil end
  return tostring(value)
end

local function in_script(desc, option)
  local script = desc.script
  if not script then return false end
  local name = option:gsub("%-", "%%-")
  for line in script:gmatch("[^\n]+") do
    if line:sub(1, 1) ~= "#" and line:match("%S") then return false end
    if line:match("^#SBATCH.*%-%-" .. name .. "[%s=]") or line:match("^#SBATCH.*%-%-" .. name .. "$") then return true end
  end
  return false
end

-- Slurm keeps --gres and --gpus-per-node in one field. The site's own way of asking decides which it was; the script can tell more.
local function per_node(desc, option, other)
  local value = word(desc.tres_per_node)
  if not value then return nil end
  if in_script(desc, option) then return value end
  if in_script(desc, other) or policy.gpu.style == other then return nil end
  return value
end

local given = {
  ["account"] = function(d) return word(d.account) end,
  ["partition"] = function(d) return word(d.partition) end,
  ["qos"] = function(d) return word(d.qos) end,
  ["time"] = function(d) return count(d.time_limit) end,
  ["nodes"] = function(d) return count(d.min_nodes) end,
  ["ntasks"] = function(d) return count(d.num_tasks) end,
  ["ntasks-per-node"] = function(d) return count(d.ntasks_per_node) end,
  ["tasks-per-node"] = function(d) return count(d.ntasks_per_node) end,
  ["cpus-per-task"] = function(d) return count(d.cpus_per_task) end,
  ["mem"] = function(d) return count(d.pn_min_memory) or word(d.mem_per_tres) end,
  ["mem-per-cpu"] = function(d) return count(d.min_mem_per_cpu) end,
  ["mem-per-gpu"] = function(d) return word(d.mem_per_tres) end,
  ["gres"] = function(d) return per_node(d, "gres", "gpus-per-node") end,
  ["gpus-per-node"] = function(d) return per_node(d, "gpus-per-node", "gres") end,
  ["gpus"] = function(d) return word(d.tres_per_job) end,
  ["gpus-per-task"] = function(d) return word(d.tres_per_task) end,
  ["gpus-per-socket"] = function(d) return word(d.tres_per_socket) end,
  ["exclusive"] = function(d) return d.shared == 0 and "yes" or nil end,
  ["nodelist"] = function(d) return word(d.req_nodes) end,
  ["exclude"] = function(d) return word(d.exc_nodes) end,
  ["constraint"] = function(d) return word(d.features) end,
  ["reservation"] = function(d) return word(d.reservation) end,
  ["array"] = function(d) return word(d.array_inx) end,
  ["dependency"] = function(d) return word(d.dependency) end,
  ["comment"] = function(d) return word(d.comment) end,
  ["export"] = function(d) return d.environment and word(d.environment["SLURM_EXPORT_ENV"]) end,
}

-- Two ways to say how many tasks there are: a site that asks for one takes the other.
local instead = {
  ["ntasks"] = "ntasks-per-node",
  ["ntasks-per-node"] = "ntasks",
  ["tasks-per-node"] = "ntasks",
}

local function gpu_text(desc)
  return word(desc.tres_per_node) or word(desc.tres_per_job) or word(desc.tres_per_task) or word(desc.tres_per_socket)
end

-- Where people name no partition the site takes the one of the job's QoS.
local function routed(desc)
  return desc.partition or policy.routes[word(desc.qos) or ""]
end

local function partitions_of(desc)
  local names = {}
  for name in (routed(desc) or policy.partition):gmatch("[^,]+") do names[#names + 1] = name end
  return names
end

local function holds(when, desc)
  local nodes = tonumber(count(desc.min_nodes) or "1")
  if when.min_nodes and nodes < when.min_nodes then return false end
  if when.max_nodes and nodes > when.max_nodes then return false end
  local gpus = (gpu_text(desc) or ""):match("gpu") ~= nil
  if when.gpus ~= nil and when.gpus ~= gpus then return false end
  if not when.partitions then return true end
  for _, wanted in ipairs(when.partitions) do
    for _, name in ipairs(partitions_of(desc)) do
      if wanted == name then return true end
    end
  end
  return false
end

local function because(rule)
  return rule.why and ": " .. rule.why or ""
end

local function check_flags(desc, say)
  for _, rule in ipairs(policy.flags) do
    local value = given[rule.flag] and given[rule.flag](desc)
    if given[rule.flag] and holds(rule.when, desc) then
      local other = instead[rule.flag] and given[instead[rule.flag]](desc)
      if rule.policy == "required" and not value and not other then
        say("--" .. rule.flag .. " is required" .. because(rule) .. (rule.hint and " (give --" .. rule.flag .. "=" .. rule.hint .. ")" or ""))
      elseif rule.policy == "forbidden" and value then
        say("--" .. rule.flag .. " is refused" .. because(rule))
      elseif value and rule.pattern and matches(value, rule.pattern) == false then
        say("--" .. rule.flag .. "=" .. value .. " is not valid" .. (rule.hint and ": it looks like " .. rule.hint or because(rule)))
      end
    end
  end
end

local function check_time(desc, name, partition, say)
  local time = tonumber(count(desc.time_limit) or "")
  if not time then return end
  local nodes = tonumber(count(desc.min_nodes) or "1")
  if partition.min_time and time < partition.min_time then
    say("partition " .. name .. " takes jobs of at least " .. partition.min_time .. " minutes")
  end
  for _, limit in ipairs(partition.by_nodes) do
    if nodes >= limit.min_nodes and (limit.max_nodes == 0 or nodes <= limit.max_nodes) and time > limit.time then
      say("partition " .. name .. " gives jobs of " .. nodes .. " nodes at most " .. limit.time .. " minutes")
    end
  end
end

-- Jobs that the emulated part of the site could never start would wait for ever.
local function check_size(desc, name, partition, say)
  local nodes = tonumber(count(desc.min_nodes) or "1")
  if policy.whole_site then return end -- nothing starts there, and Slurm knows how many nodes there are
  if partition.max_nodes and nodes > partition.max_nodes then return end -- Slurm refuses it by itself
  if partition.running == 0 then
    say("the nodes of partition " .. name .. " are not emulated here; start with: hpcml emulate --site " .. policy.site_id
      .. " --partition " .. name)
  elseif nodes > partition.running then
    say("the job asks for " .. nodes .. " nodes and " .. partition.running .. " are emulated; start with: hpcml emulate --site "
      .. policy.site_id .. " --nodes " .. nodes)
  end
end

local function check_partitions(desc, say)
  for _, name in ipairs(partitions_of(desc)) do
    local partition = policy.partitions[name]
    if partition then -- Slurm refuses unknown ones by itself
      if desc.partition and not partition.nameable then say("partition " .. name .. " cannot be asked for: the site chooses it") end
      check_time(desc, name, partition, say)
      check_size(desc, name, partition, say)
    end
  end
end

local function check_gpus(desc, say)
  local text = word(desc.tres_per_node)
  if not text or not text:match("gpu") then return end
  local typed = text:match("gpu:[^:,]+:%d+") or text:match("gpu:%a[^:,]*$")
  if policy.gpu.type == "required" and not typed and policy.gpu.name then
    say("name the GPU's type: gpu:" .. policy.gpu.name .. ":N")
  end
  local number = tonumber(text:match("gpu:?[^,]-:?(%d+)$") or "1")
  if #policy.gpu.counts == 0 then return end
  for _, allowed in ipairs(policy.gpu.counts) do
    if allowed == number then return end
  end
  say("the site gives " .. table.concat(policy.gpu.counts, ", ") .. " GPUs per node, not " .. number)
end

function slurm_job_submit(desc, _, _)
  local sentences = {}
  local function say(sentence) sentences[#sentences + 1] = policy.site .. ": " .. sentence end
  check_flags(desc, say)
  check_partitions(desc, say)
  check_gpus(desc, say)
  if #sentences == 0 then
    desc.partition = routed(desc)
    return slurm.SUCCESS
  end
  slurm.log_user("%s", table.concat(sentences, "\n"))
  return slurm.ESLURM_ACCESS_DENIED
end

function slurm_job_modify(_, _, _, _)
  return slurm.SUCCESS
end

return slurm.SUCCESS
