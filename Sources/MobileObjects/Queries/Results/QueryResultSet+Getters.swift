public import Foundation

/// Typed getters for the current row's values: by the column's number, from 1, with or without its name, which is then checked; or by its name alone.
/// They throw the errors of ``value(_:_:)`` and ``AttributeValue/read(as:)``. SMP 2.3: `getString:withName:` and so on.
extension QueryResultSet {
    /// Returns a `string` by its number.
    public func string(_ index: Int, _ name: String? = nil) throws -> String { try value(index, name).string() }
    /// Returns a `string` by its name.
    public func string(_ name: String) throws -> String { try value(name).string() }
    /// Returns a `string` by its number, or nil for null.
    public func nullableString(_ index: Int, _ name: String? = nil) throws -> String? { try value(index, name).nullableString() }
    /// Returns a `string` by its name, or nil for null.
    public func nullableString(_ name: String) throws -> String? { try value(name).nullableString() }

    /// Returns a `char` by its number.
    public func char(_ index: Int, _ name: String? = nil) throws -> Character { try value(index, name).char() }
    /// Returns a `char` by its name.
    public func char(_ name: String) throws -> Character { try value(name).char() }
    /// Returns a `char` by its number, or nil for null.
    public func nullableChar(_ index: Int, _ name: String? = nil) throws -> Character? { try value(index, name).nullableChar() }
    /// Returns a `char` by its name, or nil for null.
    public func nullableChar(_ name: String) throws -> Character? { try value(name).nullableChar() }

    /// Returns a `boolean` by its number.
    public func boolean(_ index: Int, _ name: String? = nil) throws -> Bool { try value(index, name).boolean() }
    /// Returns a `boolean` by its name.
    public func boolean(_ name: String) throws -> Bool { try value(name).boolean() }
    /// Returns a `boolean` by its number, or nil for null.
    public func nullableBoolean(_ index: Int, _ name: String? = nil) throws -> Bool? { try value(index, name).nullableBoolean() }
    /// Returns a `boolean` by its name, or nil for null.
    public func nullableBoolean(_ name: String) throws -> Bool? { try value(name).nullableBoolean() }

    /// Returns a `byte` by its number.
    public func byte(_ index: Int, _ name: String? = nil) throws -> Int8 { try value(index, name).byte() }
    /// Returns a `byte` by its name.
    public func byte(_ name: String) throws -> Int8 { try value(name).byte() }
    /// Returns a `byte` by its number, or nil for null.
    public func nullableByte(_ index: Int, _ name: String? = nil) throws -> Int8? { try value(index, name).nullableByte() }
    /// Returns a `byte` by its name, or nil for null.
    public func nullableByte(_ name: String) throws -> Int8? { try value(name).nullableByte() }

    /// Returns a `short` by its number.
    public func short(_ index: Int, _ name: String? = nil) throws -> Int16 { try value(index, name).short() }
    /// Returns a `short` by its name.
    public func short(_ name: String) throws -> Int16 { try value(name).short() }
    /// Returns a `short` by its number, or nil for null.
    public func nullableShort(_ index: Int, _ name: String? = nil) throws -> Int16? { try value(index, name).nullableShort() }
    /// Returns a `short` by its name, or nil for null.
    public func nullableShort(_ name: String) throws -> Int16? { try value(name).nullableShort() }

    /// Returns an `int` by its number.
    public func int(_ index: Int, _ name: String? = nil) throws -> Int32 { try value(index, name).int() }
    /// Returns an `int` by its name.
    public func int(_ name: String) throws -> Int32 { try value(name).int() }
    /// Returns an `int` by its number, or nil for null.
    public func nullableInt(_ index: Int, _ name: String? = nil) throws -> Int32? { try value(index, name).nullableInt() }
    /// Returns an `int` by its name, or nil for null.
    public func nullableInt(_ name: String) throws -> Int32? { try value(name).nullableInt() }

    /// Returns a `long` by its number.
    public func long(_ index: Int, _ name: String? = nil) throws -> Int64 { try value(index, name).long() }
    /// Returns a `long` by its name.
    public func long(_ name: String) throws -> Int64 { try value(name).long() }
    /// Returns a `long` by its number, or nil for null.
    public func nullableLong(_ index: Int, _ name: String? = nil) throws -> Int64? { try value(index, name).nullableLong() }
    /// Returns a `long` by its name, or nil for null.
    public func nullableLong(_ name: String) throws -> Int64? { try value(name).nullableLong() }

    /// Returns an `integer` by its number.
    public func integer(_ index: Int, _ name: String? = nil) throws -> Int64 { try value(index, name).integer() }
    /// Returns an `integer` by its name.
    public func integer(_ name: String) throws -> Int64 { try value(name).integer() }
    /// Returns an `integer` by its number, or nil for null.
    public func nullableInteger(_ index: Int, _ name: String? = nil) throws -> Int64? { try value(index, name).nullableInteger() }
    /// Returns an `integer` by its name, or nil for null.
    public func nullableInteger(_ name: String) throws -> Int64? { try value(name).nullableInteger() }

    /// Returns a `decimal` by its number.
    public func decimal(_ index: Int, _ name: String? = nil) throws -> Decimal { try value(index, name).decimal() }
    /// Returns a `decimal` by its name.
    public func decimal(_ name: String) throws -> Decimal { try value(name).decimal() }
    /// Returns a `decimal` by its number, or nil for null.
    public func nullableDecimal(_ index: Int, _ name: String? = nil) throws -> Decimal? { try value(index, name).nullableDecimal() }
    /// Returns a `decimal` by its name, or nil for null.
    public func nullableDecimal(_ name: String) throws -> Decimal? { try value(name).nullableDecimal() }

    /// Returns a `float` by its number.
    public func float(_ index: Int, _ name: String? = nil) throws -> Float { try value(index, name).float() }
    /// Returns a `float` by its name.
    public func float(_ name: String) throws -> Float { try value(name).float() }
    /// Returns a `float` by its number, or nil for null.
    public func nullableFloat(_ index: Int, _ name: String? = nil) throws -> Float? { try value(index, name).nullableFloat() }
    /// Returns a `float` by its name, or nil for null.
    public func nullableFloat(_ name: String) throws -> Float? { try value(name).nullableFloat() }

    /// Returns a `double` by its number.
    public func double(_ index: Int, _ name: String? = nil) throws -> Double { try value(index, name).double() }
    /// Returns a `double` by its name.
    public func double(_ name: String) throws -> Double { try value(name).double() }
    /// Returns a `double` by its number, or nil for null.
    public func nullableDouble(_ index: Int, _ name: String? = nil) throws -> Double? { try value(index, name).nullableDouble() }
    /// Returns a `double` by its name, or nil for null.
    public func nullableDouble(_ name: String) throws -> Double? { try value(name).nullableDouble() }

    /// Returns a `binary` by its number.
    public func binary(_ index: Int, _ name: String? = nil) throws -> [UInt8] { try value(index, name).binary() }
    /// Returns a `binary` by its name.
    public func binary(_ name: String) throws -> [UInt8] { try value(name).binary() }
    /// Returns a `binary` by its number, or nil for null.
    public func nullableBinary(_ index: Int, _ name: String? = nil) throws -> [UInt8]? { try value(index, name).nullableBinary() }
    /// Returns a `binary` by its name, or nil for null.
    public func nullableBinary(_ name: String) throws -> [UInt8]? { try value(name).nullableBinary() }

    /// Returns a `date` by its number.
    public func date(_ index: Int, _ name: String? = nil) throws -> LocalDate { try value(index, name).date() }
    /// Returns a `date` by its name.
    public func date(_ name: String) throws -> LocalDate { try value(name).date() }
    /// Returns a `date` by its number, or nil for null.
    public func nullableDate(_ index: Int, _ name: String? = nil) throws -> LocalDate? { try value(index, name).nullableDate() }
    /// Returns a `date` by its name, or nil for null.
    public func nullableDate(_ name: String) throws -> LocalDate? { try value(name).nullableDate() }

    /// Returns a `time` by its number.
    public func time(_ index: Int, _ name: String? = nil) throws -> LocalTime { try value(index, name).time() }
    /// Returns a `time` by its name.
    public func time(_ name: String) throws -> LocalTime { try value(name).time() }
    /// Returns a `time` by its number, or nil for null.
    public func nullableTime(_ index: Int, _ name: String? = nil) throws -> LocalTime? { try value(index, name).nullableTime() }
    /// Returns a `time` by its name, or nil for null.
    public func nullableTime(_ name: String) throws -> LocalTime? { try value(name).nullableTime() }

    /// Returns a `dateTime` by its number.
    public func dateTime(_ index: Int, _ name: String? = nil) throws -> Date { try value(index, name).dateTime() }
    /// Returns a `dateTime` by its name.
    public func dateTime(_ name: String) throws -> Date { try value(name).dateTime() }
    /// Returns a `dateTime` by its number, or nil for null.
    public func nullableDateTime(_ index: Int, _ name: String? = nil) throws -> Date? { try value(index, name).nullableDateTime() }
    /// Returns a `dateTime` by its name, or nil for null.
    public func nullableDateTime(_ name: String) throws -> Date? { try value(name).nullableDateTime() }
}
