export const Button = memo(() => <div/>);
export const Field = React.forwardRef<HTMLInputElement, Props>((props, ref) => <input ref={ref} />);
export const Both = memo(forwardRef((props, ref) => <div/>));
type Props = { a: string };
export function App({ a }: Props) {
  const onClick = useCallback(() => {}, []);
  return <Button onClick={() => onClick()} />;
}
export default App;
