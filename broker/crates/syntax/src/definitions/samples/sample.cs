namespace N
{
    /// <summary>A.</summary>
    [Serializable]
    public class A : B
    {
        public const int Limit = 1;
        private int count;
        public string Name { get; set; }
        public event Action Changed { add {} remove {} }
        public A() {}
        ~A() {}
        public static A operator +(A a, A b) => a;

        [Fact]
        public void Works() { void Local() {} }
        public int Run() => 1;
    }
    public record Point(int X);
    public struct S {}
    public interface IShape { double Area(); }
    public enum Color { Red, Green }
    public delegate void Handler(int a);
}
