internal import MobileServer
internal import MobileStore

/// The decision of an administrator against the certificates of a device.
struct DeviceWithdrawal: Sendable, Equatable {
    /// Seconds since 1970: certificates that are valid from then on or earlier do not count.
    let time: Int64
    /// Whether the device may get a new certificate.
    let isReadmitted: Bool

    /// Whether a certificate counts.
    /// - Parameter begin: the time from which it is valid, in seconds since 1970.
    func accepts(certifiedAt begin: Int64) -> Bool { isReadmitted && begin > time }
}

extension WorklightAdministration {
    /// A device whose certificates were withdrawn.
    public struct WithdrawnDevice: Sendable, Hashable {
        /// The identifier of the device.
        public let device: String
        /// That to which the certificates belong, as certificates name it: `app:` with the application, `group:` with the group, or `device`.
        public let organization: String
        /// The time of the withdrawal, later that of the readmission, in seconds since 1970: certificates that are valid from then on or earlier do not count.
        public let time: Int64
        /// Whether the device may get a new certificate.
        public let isReadmitted: Bool
    }

    /// Withdraws all certificates that a device has, for example of one that was lost. The device gets no new one either, and its sessions are challenged
    /// again at their next request, in all processes of the server.
    /// - Parameters:
    ///   - device: its identifier.
    ///   - entity: that to which the certificates belong.
    ///   - application: the application; of significance with the entity `application` alone.
    /// - Throws: `ServerError`, `StoreError`.
    public func withdrawCertificates(of device: String, _ entity: WorklightProvisioning.Entity, application: String) throws {
        try state.write(label: "certificates of a device") {
            try $0.execute(
                """
                INSERT INTO _wl_withdrawal (organization, device, time, readmitted) VALUES (?1, ?2, ?3, 0)
                ON CONFLICT (organization, device) DO UPDATE SET time = excluded.time, readmitted = 0
                """, [.text(entity.organization(application)), .text(device), .integer(clock() / 1000)])
        }
    }

    /// Lets a device ask for a new certificate after ``withdrawCertificates(of:_:application:)``, from the next second on. The withdrawn ones stay so. A
    /// second call changes nothing.
    /// - Parameters:
    ///   - device: its identifier.
    ///   - entity: that to which the certificates belong.
    ///   - application: the application; of significance with the entity `application` alone.
    /// - Returns: whether there was such a withdrawal.
    /// - Throws: `ServerError`, `StoreError`.
    @discardableResult
    public func readmit(_ device: String, _ entity: WorklightProvisioning.Entity, application: String) throws -> Bool {
        try state.write(label: "certificates of a device") { transaction in
            let place: [Value] = [.text(entity.organization(application)), .text(device)]
            let row = try transaction.rows("SELECT time FROM _wl_withdrawal WHERE organization = ?1 AND device = ?2", place).first
            guard row != nil else { return false }
            // With the present time: another process, whose clock is ahead, may have issued a certificate with a time after that of the withdrawal.
            try transaction.execute(
                "UPDATE _wl_withdrawal SET readmitted = 1, time = ?3 WHERE organization = ?1 AND device = ?2 AND readmitted = 0",
                place + [.integer(clock() / 1000)])
            return true
        }
    }

    /// Returns the devices whose certificates were withdrawn, by organization and device.
    /// - Throws: `ServerError`, `StoreError`.
    public func withdrawnDevices() throws -> [WithdrawnDevice] {
        let rows = try state.read {
            try $0.rows("SELECT device, organization, time, readmitted FROM _wl_withdrawal ORDER BY organization, device")
        }
        return rows.map {
            WithdrawnDevice(device: $0[0].text ?? "", organization: $0[1].text ?? "", time: $0[2].integer ?? 0, isReadmitted: $0[3].integer == 1)
        }
    }

    func withdrawals(
        from devices: [String], _ entity: WorklightProvisioning.Entity, application: String
    ) throws -> [String: DeviceWithdrawal] {
        guard !devices.isEmpty else { return [:] }
        return try state.read { connection in
            var found: [String: DeviceWithdrawal] = [:]
            for device in Set(devices) {
                let row = try connection.rows(
                    "SELECT time, readmitted FROM _wl_withdrawal WHERE organization = ?1 AND device = ?2",
                    [.text(entity.organization(application)), .text(device)]
                ).first
                found[device] = row.map { DeviceWithdrawal(time: $0[0].integer ?? .max, isReadmitted: $0[1].integer == 1) }
            }
            return found
        }
    }
}
