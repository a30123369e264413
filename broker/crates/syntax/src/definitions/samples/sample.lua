LIMIT = 10
local M = {}

-- Runs.
function M.run(a) end
function M:method() end
local function hidden() end
M.assigned = function() end
local handlers = { click = function() end }
describe("M", function() it("works", function() end) end)
return M
