/// One world: a package model, a back end, users and devices, and the steps of a history. It is drawn from a seed once; after that it stands for itself, so
/// that a history that was found stays what it is when the draw learns something new.
package struct World: Codable, Equatable, Sendable {
    /// The seed that it was drawn from; also the seed of keys, network and tokens while it runs.
    package var seed: UInt64
    package var objects: [WorldObject]
    package var devices: [WorldDevice]
    /// The regions that each user may see: those of parameters that the server binds to users.
    package var users: [Set<Region>]
    package var steps: [Step]
    /// The number of processes of its server, where it has processes.
    package var processes: Int?
}

/// A part of the rows of a partitioned object.
package enum Region: String, Codable, CaseIterable, Comparable, Sendable {
    case north, east, south

    package static func < (left: Region, right: Region) -> Bool { left.rawValue < right.rawValue }
}

/// A device at the beginning.
package struct WorldDevice: Codable, Equatable, Sendable {
    /// The position of its user.
    package var user: Int
    /// The regions that it subscribes to.
    package var regions: Set<Region>
    /// Whether it has the other package, which has the same objects on the same tables.
    package var hasOtherPackage = false
}

/// An object of the model, and its table. Each has a `tag`, which names its row and is never given again, and a `stamp`, which is another one after each
/// change: by these the oracle knows rows and changes, although keys change.
package struct WorldObject: Codable, Equatable, Sendable {
    package var key: Key
    package var attributes: [WorldAttribute]
    package var references: [WorldReference]
    package var partition: Partition
    package var group = Group.standard
    /// Whether an update or delete of a row that changed meanwhile is refused.
    package var refusesConflicts = false
    /// Whether it has an attribute for texts of any length. In PostgreSQL only.
    package var hasText = false
    package var triggers: Set<Trigger> = []

    /// The synchronization group.
    package enum Group: String, Codable, CaseIterable, Sendable {
        case standard = "default", side, far
    }

    /// The primary key.
    package enum Key: String, Codable, CaseIterable, Sendable {
        /// A number that the back end makes.
        case generated
        case long, string, decimal, dateTime
        /// A text and a number.
        case composite
    }

    /// The rows that a device has.
    package enum Partition: Codable, Equatable, Sendable {
        case all
        /// Those whose region the device has subscribed to.
        case region
        /// Those whose region the user has.
        case bound
        /// Those whose parent, by this reference, has a region that the device has subscribed to.
        case parent(Int)
    }

    /// An action of the back end on rows that devices write, decided by the last digit of the stamp.
    /// Whether a trigger keeps rows that are deleted. A row that stayed where its parent goes would break the reference.
    var keepsRows: Bool { triggers.contains(.keep) && !references.contains { $0.onDelete == .cascade } }

    package enum Trigger: String, Codable, CaseIterable, Comparable, Sendable {
        /// Fills an attribute.
        case compute
        /// Raises an error.
        case refuse
        /// Gives the row another region.
        case move
        /// Removes the row.
        case archive
        /// Keeps a row that is deleted, without a word.
        case keep

        package static func < (left: Trigger, right: Trigger) -> Bool { left.rawValue < right.rawValue }
    }
}

/// An attribute with plain values.
package struct WorldAttribute: Codable, Equatable, Sendable {
    package var type: ValueType
    package var isNullable: Bool
    package var inVersionTwo = Fate.same
    /// Whether the device has an index of the words of a string.
    package var isSearchable = false
    /// Whether other applications write values that the attribute cannot hold.
    package var getsUnfitValues = false

    /// The attribute in the second version of the package.
    package enum Fate: String, Codable, CaseIterable, Sendable { case same, added, removed, renamed, retyped }
}

/// A relationship to one object, with attributes for its key.
package struct WorldReference: Codable, Equatable, Sendable {
    /// The position of the object that it leads to: an earlier one; any where it is nullable.
    package var target: Int
    package var isNullable: Bool
    /// Whether rows are parts of the row that they refer to.
    package var isComposite = false
    /// Whether the target has the list of rows.
    package var hasInverse = false
    package var onDelete = OnDelete.noAction
    /// Whether at most one row refers to a row. Nullable, and no part.
    package var isSingle = false

    package enum OnDelete: String, Codable, CaseIterable, Sendable { case noAction, cascade, setNull }
}

/// One step. `picks` choose among what is there when the step runs, each modulo the number of choices: a step keeps a meaning when others are left out.
package struct Step: Codable, Equatable, Sendable {
    package var kind: Kind
    package var device: Int
    package var picks: [Int]

    package enum Kind: String, Codable, CaseIterable, Sendable {
        // The user.
        case create, edit, touch, moveRegion, setReference, delete, saveMany, rollBack, refresh, page, fillDisk, submitRow, submitAll, cancelRow,
            cancelAll, sendLost
        // The device.
        case synchronize, synchronizeGroup, cancelSynchronization, loseUpload, loseAnswer, cutDownload, sendAgain, subscribe, unsubscribe, upgrade,
            reopen, replaceDevice, switchUser, saveDevice, restoreDevice, cloneDevice
        // Other applications on the back end.
        case foreignInsert, foreignEdit, foreignMove, foreignReference, foreignDelete, saveBackEnd, restoreBackEnd
        // The server and its operator.
        case restartServer, loseState, saveState, restoreState, prune, passTime, turnBackClock, changeRights, removeSubscription, removeDevice, lock,
            lockBackEnd,
            deploy
        // Another user with the messages of his own.
        case impersonate
        // Tables of the back end, while devices work.
        case renameColumn
        // Processes, and what needs a network of its own.
        case killProcess, stopProcess, drainProcess, cutConnections, restartPostgreSQL, writeText
    }
}

/// Takes the picks of a step one after the other. After the last one all are 0.
struct Picks {
    private var rest: ArraySlice<Int>

    init(_ step: Step) { rest = step.picks[...] }

    /// The next number below `count`.
    mutating func next(_ count: Int) -> Int { count == 0 ? 0 : (rest.popFirst() ?? 0) % count }

    mutating func next<C: Collection>(of choices: C) -> C.Element? {
        choices.isEmpty ? nil : choices[choices.index(choices.startIndex, offsetBy: next(choices.count))]
    }

    /// True in one of `count` cases.
    mutating func isOne(of count: Int) -> Bool { next(count) == 0 }
}
