package p

const val LIMIT = 1

/** A. */
@Marked
class A(val x: Int) : B() {
    val name = ""
    fun run() {}
    companion object {
        fun create() = A(1)
    }
    @Test
    fun works() {}
}

typealias Id = String

data class Point(val x: Int)

interface Shape {
    fun area(): Double
}

enum class Color { RED, GREEN }

object Single {
    fun f() {}
}

fun String.shout() = uppercase()
