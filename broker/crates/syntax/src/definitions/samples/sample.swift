let limit = 1

/// A.
@MainActor
class A: B {
  var name = ""
  init() {}
  deinit {}
  func run() {}
}
struct S { func f() {} }
enum Color { case red, green
  func shown() {} }
protocol Shape { var sides: Int { get }
  func area() -> Double }
extension S: Shape { func area() -> Double { 1 } }
typealias Id = String
func free() {}
class Tests: XCTestCase { func testWorks() {} }
