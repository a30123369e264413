const limit = 1;

/// A.
@marked
class A extends B {
  A();
  A.named();
  factory A.create() => A();
  /// Runs.
  @override
  void run() {}
  int get size => 1;
  bool operator ==(Object other) => true;
}
mixin M {}
extension E on A { void more() {} }
enum Color { red, green }
typedef Id = String;
void free() {}
void main() {
  test('works', () {});
}
