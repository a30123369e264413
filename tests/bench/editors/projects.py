"""Projects for language servers, each with a file in which something is defined elsewhere."""

import dataclasses
import pathlib
import shutil
import subprocess

from support import Scratch

MODULES = 200


@dataclasses.dataclass
class Project:
    server: str
    command: list[str]
    path: str
    language: str
    # What is asked about: the line and character of a name, and the file of its definition.
    line: int
    character: int
    defined_in: str
    text: str


def make(it: Scratch, server: str) -> Project:
    it.write("broker.toml", f"[servers]\nuse = ['{server}']\n")
    makers = {"rust-analyzer": rust, "typescript-language-server": typescript}
    project = makers[server](it) if server in makers else python(it, server)
    it.broker("trust")
    return project


def python(it: Scratch, server: str) -> Project:
    it.write("pyproject.toml", "[project]\nname = 'measured'\nversion = '0.1.0'\n")
    for number in range(MODULES):
        body = "".join(f"def f{number}_{it}(x: int) -> int:\n    return x + {it}\n\n\n" for it in range(20))
        it.write(f"modules/m{number}.py", body)
    text = "".join(f"from modules.m{number} import f{number}_0\n" for number in range(MODULES))
    line = text.count("\n") + 1
    text += "\nvalue = f0_0(1)\nprint(value)\n"
    it.write("main.py", text)
    commands = {"ty": ["ty", "server"], "pyright": ["pyright-langserver", "--stdio"]}
    program, *arguments = commands[server]
    return Project(server, [it.program(program), *arguments], "main.py", "python", line, 8, "m0.py", text)


def typescript(it: Scratch) -> Project:
    server = it.program("typescript-language-server")
    modules = pathlib.Path(server).parent.parent
    for package in ["typescript", "typescript-language-server"]:
        shutil.copytree(modules / package, it.root / "node_modules" / package)
    it.write("tsconfig.json", '{"compilerOptions": {"strict": true, "noEmit": true}, "include": ["*.ts", "modules/*.ts"]}')
    for number in range(MODULES):
        functions = (f"export function f{number}_{it}(x: number): number {{\n  return x + {it};\n}}\n\n" for it in range(20))
        it.write(f"modules/m{number}.ts", "".join(functions))
    text = "".join(f'import {{ f{number}_0 }} from "./modules/m{number}";\n' for number in range(MODULES))
    line = text.count("\n") + 1
    text += "\nconst value = f0_0(1);\nconsole.log(value);\n"
    it.write("main.ts", text)
    return Project("typescript-language-server", [server, "--stdio"], "main.ts", "typescript", line, 15, "m0.ts", text)


def rust(it: Scratch) -> Project:
    it.write("Cargo.toml", "[package]\nname = 'measured'\nversion = '0.1.0'\nedition = '2021'\n")
    for number in range(20):
        body = "".join(f"pub fn f{number}_{it}(x: u64) -> u64 {{\n    x + {it}\n}}\n" for it in range(20))
        it.write(f"src/m{number}.rs", body)
    text = "".join(f"mod m{number};\n" for number in range(20))
    line = text.count("\n") + 2
    text += "\nfn main() {\n    let value = m0::f0_0(1);\n    println!(\"{value}\");\n}\n"
    it.write("src/main.rs", text)
    subprocess.run(["cargo", "generate-lockfile", "--offline"], cwd=it.root, check=True, capture_output=True)
    return Project("rust-analyzer", [it.program("rust-analyzer")], "src/main.rs", "rust", line, 20, "m0.rs", text)
