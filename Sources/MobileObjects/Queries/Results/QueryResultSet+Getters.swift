public import Foundation

/// The current row's values, read as what they are: by the column's number, from 1, with or without its name, which is then checked; or by its
/// name alone. They throw what ``value(_:_:)`` and ``AttributeValue/read(as:)`` throw. SMP 2.3: `getString:withName:` and so on.
extension QueryResultSet {
    /// A `string` by its number.
    public func string(_ index: Int, _ name: String? = nil) throws -> String { try value(index, name).string() }
    /// A `string` by its name.
    public func string(_ name: String) throws -> String { try value(name).string() }
    /// A `string` by its number, or nil for null.
    public func nullableString(_ index: Int, _ name: String? = nil) throws -> String? { try value(index, name).nullableString() }
    /// A `string` by its name, or nil for null.
    public func nullableString(_ name: String) throws -> String? { try value(name).nullableString() }

    /// A `char` by its number.
    public func char(_ index: Int, _ name: String? = nil) throws -> Character { try value(index, name).char() }
    /// A `char` by its name.
    public func char(_ name: String) throws -> Character { try value(name).char() }
    /// A `char` by its number, or nil for null.
    public func nullableChar(_ index: Int, _ name: String? = nil) throws -> Character? { try value(index, name).nullableChar() }
    /// A `char` by its name, or nil for null.
    public func nullableChar(_ name: String) throws -> Character? { try value(name).nullableChar() }

    /// A `boolean` by its number.
    public func boolean(_ index: Int, _ name: String? = nil) throws -> Bool { try value(index, name).boolean() }
    /// A `boolean` by its name.
    public func boolean(_ name: String) throws -> Bool { try value(name).boolean() }
    /// A `boolean` by its number, or nil for null.
    public func nullableBoolean(_ index: Int, _ name: String? = nil) throws -> Bool? { try value(index, name).nullableBoolean() }
    /// A `boolean` by its name, or nil for null.
    public func nullableBoolean(_ name: String) throws -> Bool? { try value(name).nullableBoolean() }

    /// A `byte` by its number.
    public func byte(_ index: Int, _ name: String? = nil) throws -> Int8 { try value(index, name).byte() }
    /// A `byte` by its name.
    public func byte(_ name: String) throws -> Int8 { try value(name).byte() }
    /// A `byte` by its number, or nil for null.
    public func nullableByte(_ index: Int, _ name: String? = nil) throws -> Int8? { try value(index, name).nullableByte() }
    /// A `byte` by its name, or nil for null.
    public func nullableByte(_ name: String) throws -> Int8? { try value(name).nullableByte() }

    /// A `short` by its number.
    public func short(_ index: Int, _ name: String? = nil) throws -> Int16 { try value(index, name).short() }
    /// A `short` by its name.
    public func short(_ name: String) throws -> Int16 { try value(name).short() }
    /// A `short` by its number, or nil for null.
    public func nullableShort(_ index: Int, _ name: String? = nil) throws -> Int16? { try value(index, name).nullableShort() }
    /// A `short` by its name, or nil for null.
    public func nullableShort(_ name: String) throws -> Int16? { try value(name).nullableShort() }

    /// An `int` by its number.
    public func int(_ index: Int, _ name: String? = nil) throws -> Int32 { try value(index, name).int() }
    /// An `int` by its name.
    public func int(_ name: String) throws -> Int32 { try value(name).int() }
    /// An `int` by its number, or nil for null.
    public func nullableInt(_ index: Int, _ name: String? = nil) throws -> Int32? { try value(index, name).nullableInt() }
    /// An `int` by its name, or nil for null.
    public func nullableInt(_ name: String) throws -> Int32? { try value(name).nullableInt() }

    /// A `long` by its number.
    public func long(_ index: Int, _ name: String? = nil) throws -> Int64 { try value(index, name).long() }
    /// A `long` by its name.
    public func long(_ name: String) throws -> Int64 { try value(name).long() }
    /// A `long` by its number, or nil for null.
    public func nullableLong(_ index: Int, _ name: String? = nil) throws -> Int64? { try value(index, name).nullableLong() }
    /// A `long` by its name, or nil for null.
    public func nullableLong(_ name: String) throws -> Int64? { try value(name).nullableLong() }

    /// An `integer` by its number.
    public func integer(_ index: Int, _ name: String? = nil) throws -> Int64 { try value(index, name).integer() }
    /// An `integer` by its name.
    public func integer(_ name: String) throws -> Int64 { try value(name).integer() }
    /// An `integer` by its number, or nil for null.
    public func nullableInteger(_ index: Int, _ name: String? = nil) throws -> Int64? { try value(index, name).nullableInteger() }
    /// An `integer` by its name, or nil for null.
    public func nullableInteger(_ name: String) throws -> Int64? { try value(name).nullableInteger() }

    /// A `decimal` by its number.
    public func decimal(_ index: Int, _ name: String? = nil) throws -> Decimal { try value(index, name).decimal() }
    /// A `decimal` by its name.
    public func decimal(_ name: String) throws -> Decimal { try value(name).decimal() }
    /// A `decimal` by its number, or nil for null.
    public func nullableDecimal(_ index: Int, _ name: String? = nil) throws -> Decimal? { try value(index, name).nullableDecimal() }
    /// A `decimal` by its name, or nil for null.
    public func nullableDecimal(_ name: String) throws -> Decimal? { try value(name).nullableDecimal() }

    /// A `float` by its number.
    public func float(_ index: Int, _ name: String? = nil) throws -> Float { try value(index, name).float() }
    /// A `float` by its name.
    public func float(_ name: String) throws -> Float { try value(name).float() }
    /// A `float` by its number, or nil for null.
    public func nullableFloat(_ index: Int, _ name: String? = nil) throws -> Float? { try value(index, name).nullableFloat() }
    /// A `float` by its name, or nil for null.
    public func nullableFloat(_ name: String) throws -> Float? { try value(name).nullableFloat() }

    /// A `double` by its number.
    public func double(_ index: Int, _ name: String? = nil) throws -> Double { try value(index, name).double() }
    /// A `double` by its name.
    public func double(_ name: String) throws -> Double { try value(name).double() }
    /// A `double` by its number, or nil for null.
    public func nullableDouble(_ index: Int, _ name: String? = nil) throws -> Double? { try value(index, name).nullableDouble() }
    /// A `double` by its name, or nil for null.
    public func nullableDouble(_ name: String) throws -> Double? { try value(name).nullableDouble() }

    /// A `binary` by its number.
    public func binary(_ index: Int, _ name: String? = nil) throws -> [UInt8] { try value(index, name).binary() }
    /// A `binary` by its name.
    public func binary(_ name: String) throws -> [UInt8] { try value(name).binary() }
    /// A `binary` by its number, or nil for null.
    public func nullableBinary(_ index: Int, _ name: String? = nil) throws -> [UInt8]? { try value(index, name).nullableBinary() }
    /// A `binary` by its name, or nil for null.
    public func nullableBinary(_ name: String) throws -> [UInt8]? { try value(name).nullableBinary() }

    /// A `date` by its number.
    public func date(_ index: Int, _ name: String? = nil) throws -> LocalDate { try value(index, name).date() }
    /// A `date` by its name.
    public func date(_ name: String) throws -> LocalDate { try value(name).date() }
    /// A `date` by its number, or nil for null.
    public func nullableDate(_ index: Int, _ name: String? = nil) throws -> LocalDate? { try value(index, name).nullableDate() }
    /// A `date` by its name, or nil for null.
    public func nullableDate(_ name: String) throws -> LocalDate? { try value(name).nullableDate() }

    /// A `time` by its number.
    public func time(_ index: Int, _ name: String? = nil) throws -> LocalTime { try value(index, name).time() }
    /// A `time` by its name.
    public func time(_ name: String) throws -> LocalTime { try value(name).time() }
    /// A `time` by its number, or nil for null.
    public func nullableTime(_ index: Int, _ name: String? = nil) throws -> LocalTime? { try value(index, name).nullableTime() }
    /// A `time` by its name, or nil for null.
    public func nullableTime(_ name: String) throws -> LocalTime? { try value(name).nullableTime() }

    /// A `dateTime` by its number.
    public func dateTime(_ index: Int, _ name: String? = nil) throws -> Date { try value(index, name).dateTime() }
    /// A `dateTime` by its name.
    public func dateTime(_ name: String) throws -> Date { try value(name).dateTime() }
    /// A `dateTime` by its number, or nil for null.
    public func nullableDateTime(_ index: Int, _ name: String? = nil) throws -> Date? { try value(index, name).nullableDateTime() }
    /// A `dateTime` by its name, or nil for null.
    public func nullableDateTime(_ name: String) throws -> Date? { try value(name).nullableDateTime() }
}
