import x

LIMIT = 10
_PRIVATE: int = 1
lower = 2
double = lambda it: it * 2
type Alias = int

# Comment.
@decorated
@other(1)
class A(Base):
    # About f.
    def f(self):
        def inner(): pass
        return inner

    @property
    def g(self): ...

    KIND = "a"
    name: str = ""

async def h(): pass

def test_h():
    pass

class TestA:
    def test_f(self): pass
