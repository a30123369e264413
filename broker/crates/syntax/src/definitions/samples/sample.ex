defmodule A do
  @moduledoc "A."
  @limit 10

  # Comment.
  @doc "Runs."
  @spec run(integer) :: integer
  def run(a) when a > 1, do: a
  defp hidden(a), do: a
  def none, do: 1
  defmacro twice(a), do: a
end

defimpl Shape, for: A do
  def area(_), do: 1
end

defmodule ATest do
  describe "run" do
    test "works" do
      assert true
    end
  end
end
