-- What a person does in Neovim, one step after the other. Ends with code 1 at the first that fails.

local PATIENCE = 60000

local function say(text)
  io.stdout:write(text .. "\n")
end

--- Waits until it is so, while events are handled.
local function await(what, is_so)
  local last
  local done = vim.wait(PATIENCE, function()
    local ok, result = pcall(is_so)
    last = result
    return ok and result
  end, 10)
  assert(done, ("this never came: %s (%s)"):format(what, vim.inspect(last)))
  say(what)
end

local function codes(buffer)
  local all = vim.tbl_map(function(it)
    return it.code
  end, vim.diagnostic.get(buffer))
  table.sort(all)
  return table.concat(all, " ")
end

local function text(buffer)
  return table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), "\n")
end

local function disk(path)
  return table.concat(vim.fn.readfile(path), "\n")
end

--- Runs broker as from another shell.
local function broker(arguments, input)
  local done = vim.system({ "broker", unpack(arguments) }, { stdin = input, text = true }):wait()
  assert(done.code == 0, done.stderr)
  return done.stdout
end

local function id_of(name)
  for _, branch in ipairs(vim.json.decode(broker({ "branch", "list", "--output-format", "json" }))) do
    if branch.name == name then
      return branch.branch_id or branch.id
    end
  end
  error("there is no branch " .. name)
end

--- Types, as an undoable step of its own.
local function type_keys(keys)
  vim.cmd("let &undolevels = &undolevels")
  vim.api.nvim_feedkeys(vim.keycode(keys), "tx", false)
end

local function steps()
  vim.cmd.edit("a.py")
  local buffer = vim.api.nvim_get_current_buf()
  await("the server is attached", function()
    return #vim.lsp.get_clients({ bufnr = buffer, name = "broker" }) == 1
  end)

  type_keys("ggOimport os<CR><Esc>")
  assert(text(buffer) == "import os\n\nx = 1\nprint(x)", text(buffer))
  await("typing an error shows it", function()
    return codes(buffer) == "F401"
  end)
  local finding = vim.diagnostic.get(buffer)[1]
  assert(finding.lnum == 0 and finding.col == 7 and finding.source == "python", vim.inspect(finding))

  vim.api.nvim_win_set_cursor(0, { 1, 7 })
  vim.cmd("let &undolevels = &undolevels")
  vim.lsp.buf.code_action({
    context = { only = { "quickfix" } },
    filter = function(action)
      return action.isPreferred
    end,
    apply = true,
  })
  await("the code action's fix mends it", function()
    return text(buffer) == "\nx = 1\nprint(x)" and codes(buffer) == ""
  end)

  type_keys("u")
  assert(text(buffer) == "import os\n\nx = 1\nprint(x)", text(buffer))
  await("undo brings it back", function()
    return codes(buffer) == "F401"
  end)

  type_keys("ggA  # é𐐀, said twice<Esc>")
  vim.lsp.buf.code_action({
    context = { only = { "source.fixAll" } },
    apply = true,
  })
  await("all is fixed at once", function()
    return not text(buffer):find("import os", 1, true) and codes(buffer) == ""
  end)
  type_keys("ggdd")
  assert(text(buffer) == "x = 1\nprint(x)", text(buffer))
  vim.cmd("silent write")

  broker({ "branch", "fork", "try" })
  broker({ "branch", "write", "try", "a.py" }, "import sys\n\nx = 2\nprint(x)\n")
  vim.cmd.edit(("broker-branch://%s/a.py"):format(id_of("try")))
  local branch = vim.api.nvim_get_current_buf()
  await("a file of a branch is shown", function()
    return text(branch) == "import sys\n\nx = 2\nprint(x)" and not vim.bo[branch].modifiable
  end)
  await("with what is found in it", function()
    return codes(branch) == "F401"
  end)
  assert(codes(buffer) == "", "the file itself has none")
  broker({ "branch", "write", "try", "a.py" }, "x = 3\nprint(x)\n")
  await("it is shown anew when the branch changes", function()
    return text(branch) == "x = 3\nprint(x)" and codes(branch) == ""
  end)

  vim.cmd.buffer(buffer)
  vim.cmd.BrokerDiff("try")
  await("the file is compared with the branch's", function()
    return #vim.api.nvim_tabpage_list_wins(0) == 2 and vim.wo.diff
  end)
  vim.cmd.only()
  vim.cmd.buffer(buffer)
  vim.cmd.diffoff()
  broker({ "branch", "discard", "try" })
  type_keys("Goy = 1<CR>print(y)<Esc>")
  assert(vim.bo[buffer].modified)
  local unsaved = text(buffer) .. "\n"
  await("a branch starts from the unsaved text", function()
    broker({ "branch", "fork", "next" })
    return broker({ "branch", "read", "next", "a.py" }) == unsaved or (broker({ "branch", "discard", "next" }) and false)
  end)
  broker({ "branch", "write", "next", "a.py" }, (unsaved:gsub("y = 1", "y = 'é𐐀'")))
  vim.cmd("let &undolevels = &undolevels")
  broker({ "branch", "commit", "next" })
  await("a commit of a branch lands in the open buffer", function()
    return text(buffer) == "x = 1\nprint(x)\ny = 'é𐐀'\nprint(y)"
  end)
  assert(disk("a.py") == "x = 1\nprint(x)", "the disk is not written behind the editor's back: " .. disk("a.py"))
  type_keys("u")
  assert(text(buffer) == "x = 1\nprint(x)\ny = 1\nprint(y)", "and can be undone: " .. text(buffer))
  vim.cmd.redo()
  vim.cmd.write()
  await("the branch lets go of what is saved", function()
    return broker({ "branch", "diff", "next" }) == ""
  end)

  for _, client in ipairs(vim.lsp.get_clients()) do
    client:stop()
  end
  await("the server ends", function()
    return #vim.lsp.get_clients() == 0
  end)
end

local ok, failure = xpcall(steps, debug.traceback)
if not ok then
  say(failure)
  say(vim.inspect(vim.diagnostic.get()))
  vim.cmd("cquit 1")
end
vim.cmd("qall!")
