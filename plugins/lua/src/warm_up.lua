-- selene: allow(shadowing)
local a, b = 1
a = b
b = a
if (a == 0 / 0) then else a = { 1, x = 2, x = 3 } end
while a do end
for i = #b, 1 do print(i, undefined.name, _G.x, table.getn(b)) end
local function f(x, y) return "\d" .. type(x == "string") end
f(1, 2, 3); tostring(1)
global = f
if a == {} then return a elseif a then return b elseif a then return b end
