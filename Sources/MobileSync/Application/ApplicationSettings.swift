/// The settings that the server sent at registration. SMP 2.3: `SUPApplicationSettings`.
public struct ApplicationSettings: Sendable, Equatable {
    /// Every setting by its name, as text.
    public let values: [String: String]

    init(values: [String: String]) { self.values = values }

    /// Returns the setting as text; nil if the server did not send it. SMP 2.3: `getStringProperty`.
    ///
    ///     if let colour = application.settings?.string("custom1") {
    ///         print("titles are \(colour)")
    ///     }
    public func string(_ name: String) -> String? { values[name] }

    /// Returns the setting as a number; nil if it is missing or not a number. SMP 2.3: `getIntegerProperty`.
    ///
    ///     let length = application.settings?.integer("PWDPOLICY_MIN_LENGTH") ?? 8
    ///     print("it has at least \(length) characters")
    public func integer(_ name: String) -> Int? { values[name].flatMap { Int($0) } }

    /// Returns the setting as a Boolean; nil if it is missing, or neither `true` nor `false`. SMP 2.3: `getBooleanProperty`.
    ///
    ///     if application.settings?.boolean("PWDPOLICY_ENABLED") == true {
    ///         print("the vault needs a password")
    ///     }
    public func boolean(_ name: String) -> Bool? { values[name].flatMap { Bool($0) } }

    /// Returns the names of the settings that differ between two states.
    static func changedNames(from old: ApplicationSettings?, to new: ApplicationSettings) -> [String] {
        let before = old?.values ?? [:]
        return Set(before.keys).union(new.values.keys).filter { before[$0] != new.values[$0] }.sorted()
    }
}
