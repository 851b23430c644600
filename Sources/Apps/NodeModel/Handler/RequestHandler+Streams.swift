internal import Circle

// Streams, the devices of this device's person, and the people who are blocked.
extension RequestHandler {
    package func makeStream(_ form: StreamForm) async throws -> StreamReport {
        try Self.requireName(form.name)
        let policies = StreamPolicies(posting: form.posting ?? .members)
        return try report(of: try await circle().makeStream(name: form.name, blurb: form.blurb, policies: policies))
    }

    package func inviteToStream(_ stream: StreamName, _ person: PersonName) async throws -> StreamReport {
        try report(of: try await circle().invite(resolve(person), to: resolve(stream)))
    }

    package func removeFromStream(_ stream: StreamName, _ person: PersonName) async throws -> StreamReport {
        try report(of: try await circle().remove(resolve(person), from: resolve(stream)))
    }

    package func joinStream(_ stream: StreamName) async throws -> StreamReport {
        try report(of: try await circle().join(resolve(stream)))
    }

    package func leaveStream(_ stream: StreamName) async throws -> StreamReport {
        try report(of: try await circle().leave(resolve(stream)))
    }

    private func report(of stream: Circle.Stream) throws -> StreamReport {
        StreamReport(stream, PeopleNames(try circle()))
    }

    package func deleteStream(_ stream: StreamName) async throws -> DoneReport {
        try await circle().deleteStream(resolve(stream))
        return DoneReport(done: true)
    }

    // MARK: Devices

    /// Permits another device of this person to give the circle to this one.
    package func expectDevice(_ device: PeerName) throws -> CircleReport {
        try circle().expectDevice(resolve(device))
        return try circleReport()
    }

    /// Gives this person and the circle to another device, which expects it.
    package func addDevice(_ device: PeerName) async throws -> CircleReport {
        try await circle().addDevice(resolve(device))
        return try circleReport()
    }

    package func removeDevice(_ device: PeerName) async throws -> CircleReport {
        try await circle().removeDevice(resolve(device))
        return try circleReport()
    }

    // MARK: Blocked people

    package func block(_ person: PersonName, reasons: [String: Int]) async throws -> CircleReport {
        try await circle().block(resolveAnyone(person), reasons: reasons)
        return try circleReport()
    }

    package func unblock(_ person: PersonName) async throws -> CircleReport {
        try await circle().unblock(resolveBlocked(person))
        return try circleReport()
    }
}
