//! Kinds of definitions.

/// A kind of definition, named by its capture in the queries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DefinitionKind {
    Function,
    Method,
    Class,
    /// A structure, a union, a record or a message.
    Struct,
    /// An interface, a trait or a protocol.
    Interface,
    Type,
    Enum,
    /// A member of an enum.
    Variant,
    /// A property or an attribute of a type.
    Field,
    /// A constant or a variable of a module.
    Constant,
    Module,
    /// Members of a type that is defined elsewhere: `impl` of Rust, extensions.
    Implementation,
    Macro,
    /// A function, a block or a module of tests.
    Test,
    /// A name of another module that this one has as its own.
    ReExport,
    /// A rule of a style sheet, or a block of a configuration.
    Block,
    /// A call that is given a name and a function, and may define a test.
    Call,
    /// A variable that is no constant.
    Value,
    /// A key of a document.
    Entry,
    /// The text at the start of a class or a function of Python that documents it.
    Docstring,
}

/// Each kind with its name.
const NAMES: [(DefinitionKind, &str); 20] = [
    (DefinitionKind::Function, "function"),
    (DefinitionKind::Method, "method"),
    (DefinitionKind::Class, "class"),
    (DefinitionKind::Struct, "struct"),
    (DefinitionKind::Interface, "interface"),
    (DefinitionKind::Type, "type"),
    (DefinitionKind::Enum, "enum"),
    (DefinitionKind::Variant, "variant"),
    (DefinitionKind::Field, "field"),
    (DefinitionKind::Constant, "constant"),
    (DefinitionKind::Module, "module"),
    (DefinitionKind::Implementation, "impl"),
    (DefinitionKind::Macro, "macro"),
    (DefinitionKind::Test, "test"),
    (DefinitionKind::ReExport, "re-export"),
    (DefinitionKind::Block, "block"),
    (DefinitionKind::Call, "call"),
    (DefinitionKind::Value, "value"),
    (DefinitionKind::Entry, "entry"),
    (DefinitionKind::Docstring, "docstring"),
];

impl DefinitionKind {
    /// The name, as an outline shows it and as the capture is called.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|it| it.0 == self).map_or("", |it| it.1)
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        NAMES.iter().find(|it| it.1 == name).map(|it| it.0)
    }

    /// Whether it defines a type.
    pub fn is_type(self) -> bool {
        matches!(self, Self::Class | Self::Struct | Self::Interface | Self::Type | Self::Enum)
    }

    /// Whether a function in it is a method.
    pub fn has_members(self) -> bool {
        self.is_type() || self == Self::Implementation
    }

    /// Whether edits alone look at it, and no outline has it.
    pub fn is_minor(self) -> bool {
        matches!(self, Self::Call | Self::Value | Self::Entry | Self::Docstring)
    }

    /// Whether it has parameters, and variables that are no definitions of a module.
    pub fn is_function(self) -> bool {
        matches!(self, Self::Function | Self::Method | Self::Macro)
    }

    /// Whether it is a part of a type that is not read on its own.
    pub fn is_part(self) -> bool {
        matches!(self, Self::Field | Self::Variant)
    }
}
