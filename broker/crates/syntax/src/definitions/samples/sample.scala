package p

/** A. */
class A(x: Int) extends B {
  val name = ""
  def run(): Unit = {}
}
object A { def create = new A(1) }
trait Shape { def area: Double }
enum Color { case Red, Green }
type Id = String
val Limit = 1
def free() = 1
class Suite { test("works") { 1 } }
