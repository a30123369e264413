module M
  LIMIT = 10

  # A.
  class A < B
    # Runs.
    def run(a)
    end

    def self.create
    end
    alias start run
    class << self
      def inner; end
    end
  end
end

RSpec.describe A do
  it 'works' do
  end
end
class TestA
  def test_run; end
end
