internal import MobileCrypto
internal import MobileStore

/// Activation codes. Each lets one device register without a password, for a limited time.
struct ActivationCodes {
    let lifetime: Int64
    let now: Int64

    /// Makes a code the user's only one. A known code keeps the time of its creation, and a used one remains used.
    func set(_ code: String, user: String, in connection: Connection) throws {
        let digest = try SHA256.digest(of: code)
        _ = try connection.execute("DELETE FROM _activation WHERE user = ?1 AND code <> ?2", [.text(user), .blob(digest)])
        _ = try connection.execute(
            "INSERT OR IGNORE INTO _activation (user, code, made) VALUES (?1, ?2, ?3)", [.text(user), .blob(digest), .integer(now)])
    }

    /// Uses up a code for a device. The same device may use it again, since the first answer may have been lost. No other device may.
    /// - Returns: whether the code belongs to this user and is valid for this device.
    func use(_ code: String, user: String, application: String, device: String, in connection: Connection) throws -> Bool {
        let row = try connection.first("SELECT code, made, application, device FROM _activation WHERE user = ?1", [.text(user)])
        guard let row, let known = row[0].blob, let made = row[1].integer, known.equalsInConstantTime(try SHA256.digest(of: code)),
            made > now - lifetime, row[2] == .null || (row[2].text == application && row[3].text == device)
        else { return false }
        _ = try connection.execute(
            "UPDATE _activation SET application = ?2, device = ?3 WHERE user = ?1", [.text(user), .text(application), .text(device)])
        return true
    }
}
