-- One write in five; of the reads half show a page of heads and half one memory by its name.
local token = os.getenv("BENCH_TOKEN")
local threads = {}
local number = 0

function setup(thread)
  number = number + 1
  thread:set("id", number)
  table.insert(threads, thread)
end

function init(args)
  sent = 0
  created = 0
  wrong = 0
  math.randomseed(id)
  headers = {}
  headers["Authorization"] = "Bearer " .. token
  headers["Content-Type"] = "application/json"
end

function request()
  sent = sent + 1
  if sent % 5 == 0 then
    local body = '{"name":"w-' .. id .. "-" .. sent .. '","type":"plan","content":"A new plan."}'
    return wrk.format("POST", "/api/v1/memories", headers, body)
  end
  if sent % 2 == 0 then
    local path = "/api/v1/memories?limit=20&fields=id,name,type,summary"
    return wrk.format("GET", path, headers)
  end
  local name = string.format("row-%03d", math.random(0, 99))
  return wrk.format("GET", "/api/v1/memories/named?type=context&name=" .. name, headers)
end

function response(status)
  if status == 201 then
    created = created + 1
  elseif status ~= 200 then
    wrong = wrong + 1
  end
end

function done(summary, latency, requests)
  local created, errors = 0, 0
  for _, thread in ipairs(threads) do
    created = created + thread:get("created")
    errors = errors + thread:get("wrong")
  end
  local failed = summary.errors
  errors = errors + failed.connect + failed.read + failed.write + failed.timeout
  print(string.format(
    'RESULT {"p50": %d, "p99": %d, "created": %d, "errors": %d}',
    latency:percentile(50), latency:percentile(99), created, errors
  ))
end
