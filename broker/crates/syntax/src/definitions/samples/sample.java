package p;

/** A. */
@Deprecated
public class A<T> implements B {
  public static final int LIMIT = 1;
  private int count;

  A(int count) {}

  /** Runs. */
  @Override
  public void run() {}

  @Test
  void works() {}

  enum Color { RED, GREEN }
  record Point(int x, int y) { Point {} }
}
interface Shape { int SIDES = 1; double area(); }
@interface Mark { String value(); }
