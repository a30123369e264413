namespace n {
template <class T>
class A : public B {
public:
  A();
  ~A() {}
  int m() { return 1; }
  const T &get() const;
  bool operator==(const A &) const { return true; }
};
template <class T>
int A<T>::k() {}
using Id = int;
enum class Color { Red };
struct S {};
const S &shown() {}
}
TEST(Suite, Works) {}
