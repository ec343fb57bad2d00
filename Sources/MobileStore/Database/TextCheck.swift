internal import MobileCore

/// The name of an SQL function that checks texts: SQLite stores any bytes as a text, and a database of another origin may have them. Every connection has it,
/// for statements of the program only.
///
///     INSERT INTO article SELECT * FROM other.article WHERE mc_text_check(name, price)
///
/// It is 1 where each argument is NULL, a number, or a text in UTF-8. Any other argument is an error of the statement, so that rows are copied whole or not at all.
public enum TextCheck {
    /// The function: any number of values.
    public static let function = MC_TEXT_CHECK
}
