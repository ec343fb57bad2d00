import Testing

@testable import PostgreSQLClient

/// `?1` becomes `$1` where SQL has a parameter, and nowhere else.
@Suite struct ParameterTranslationTests {
    @Test(
        "parameters are translated, the rest of the text stays",
        arguments: [
            ("SELECT ?1, ?12", "SELECT $1, $12"),
            ("a=?1 AND b=?2", "a=$1 AND b=$2"),
            ("SELECT $1", "SELECT $1"),
            ("LIMIT?1", "LIMIT $1"),
            ("x ? 'key' AND y ?| array[?1]", "x ? 'key' AND y ?| array[$1]"),
            ("'?1' ?1", "'?1' $1"),
            ("'it''s ?1' ?1", "'it''s ?1' $1"),
            ("'\\' ?1", "'\\' $1"),
            ("E'\\'?1' ?1", "E'\\'?1' $1"),
            ("e'a''\\'?1' ?1", "e'a''\\'?1' $1"),
            ("E'''?1' ?1", "E'''?1' $1"),
            ("name'\\' ?1", "name'\\' $1"),
            ("\"?1\"\"?1\" ?1", "\"?1\"\"?1\" $1"),
            ("-- ?1\n?1", "-- ?1\n$1"),
            ("/* ?1 /* ?1 */ ?1 */ ?1", "/* ?1 /* ?1 */ ?1 */ $1"),
            ("$$?1$$ ?1", "$$?1$$ $1"),
            ("$a$ ?1 $$ ?1 $a$ ?1", "$a$ ?1 $$ ?1 $a$ $1"),
            ("a$b$ ?1", "a$b$ $1"),
            ("$1$?1", "$1$ $1"),
            ("'ü?1' ?1 ü", "'ü?1' $1 ü"),
            ("'open ?1", "'open ?1"),
            ("/* open ?1", "/* open ?1"),
            ("$a$ open ?1", "$a$ open ?1"),
            ("?", "?"), ("", ""),
        ])
    func translation(sql: String, expected: String) { #expect(ParameterTranslation.translate(sql) == expected) }
}
