//! Output of trees and captures.

use insta::assert_snapshot;

use super::*;

fn tree(language: &str, text: &str) -> std::sync::Arc<Tree> {
    let language = Language::named(language).unwrap();
    let text = Bytes::copy_from_slice(text.as_bytes());
    Trees::new(0).tree(language, text.clone(), ContentHash::of(&text), &|| false).unwrap()
}

fn found(text: &str, query: &str) -> String {
    let tree = tree("python", text);
    let query = Query::new(tree.language(), query).unwrap();
    QueryAnswer::new(&tree, &query.names(), &query.run(&tree, &|| false).unwrap()).text()
}

#[test]
fn a_tree_has_fields_and_signs() {
    assert_snapshot!(nodes_as_text(&tree("python", "ä = f(\"x\")\n")), @r#"
(module 1:1-2:1
  (expression_statement 1:1-1:11
    (assignment 1:1-1:11
      left: (identifier 1:1-1:2)  ; ä
      "=" 1:3-1:4
      right: (call 1:5-1:11
        function: (identifier 1:5-1:6)  ; f
        arguments: (argument_list 1:6-1:11
          "(" 1:6-1:7
          (string 1:7-1:10
            (string_start 1:7-1:8)  ; "
            (string_content 1:8-1:9)  ; x
            (string_end 1:9-1:10))  ; "
          ")" 1:10-1:11)))))
"#);
}

#[test]
fn what_does_not_fit_is_marked() {
    assert_snapshot!(nodes_as_text(&tree("json", "[1, x]")), @r#"
(document 1:1-1:7
  (array 1:1-1:7
    "[" 1:1-1:2
    (number 1:2-1:3)  ; 1
    (ERROR 1:3-1:6
      "," 1:3-1:4
      (ERROR 1:5-1:6))  ; x
    "]" 1:6-1:7))
"#);
    assert_snapshot!(nodes_as_text(&tree("c", "int a\n")), @r#"
(translation_unit 1:1-2:1
  (declaration 1:1-1:6
    type: (primitive_type 1:1-1:4)  ; int
    declarator: (identifier 1:5-1:6)  ; a
    (MISSING ";" 1:6-1:6)))
"#);
}

#[test]
fn captures_stand_together_by_match() {
    let query = "(call function: (_) @name arguments: (argument_list) @arguments) @call (string) @text";
    assert_snapshot!(found("f(g('ä'))\n", query), @r#"
match 0, pattern 0
  @call 1:1-1:10  ; f(g('ä'))
  @name 1:1-1:2  ; f
  @arguments 1:2-1:10  ; (g('ä'))
match 1, pattern 0
  @call 1:3-1:9  ; g('ä')
  @name 1:3-1:4  ; g
  @arguments 1:4-1:9  ; ('ä')
match 2, pattern 1
  @text 1:5-1:8  ; 'ä'
3 matches, 7 captures
"#);
    assert_snapshot!(found("1\n", query), @r#"
0 matches, 0 captures
"#);
}

#[test]
fn deep_trees_are_shown() {
    let text = nodes_as_text(&tree("json", &("[".repeat(300) + &"]".repeat(300))));
    assert_eq!(text.matches('(').count(), text.matches(')').count());
}
