internal import Bytes
internal import Concurrency
internal import Platform

/// Configures a tunnel engine over its socket, be it `wireguard-go` or ours.
///
/// Each request by path has a connection of its own, so that it reaches the engine that listens now. Requests wait on a
/// thread of their own, at most for the time limit. A given connection ends with the first request that gets no whole
/// answer, because a late one would count as that to the next request.
package final class UAPIClient: Sendable {
    /// The folder of the sockets that `wg` finds by the name of the interface.
    package static let folder = "/var/run/wireguard"

    private enum Place {
        case path(String)
        /// A connection; nil after a request without an answer.
        case connection(Locked<DescriptorOwner?>)
    }

    private let place: Place
    private let timeLimit: Duration
    /// Requests on one connection are answered in turn.
    private let turn = AsyncMutex()

    /// Uses the socket at `path`.
    package init(path: String, timeLimit: Duration) {
        place = .path(path)
        self.timeLimit = timeLimit
    }

    /// Uses a connected stream socket, which is closed with this value, or after a request without a whole answer: later
    /// requests throw ``UAPIError/closed``.
    package init(connection descriptor: Int32, timeLimit: Duration) {
        place = .connection(Locked(DescriptorOwner(descriptor)))
        self.timeLimit = timeLimit
    }

    /// Returns the state of the device with all peers.
    package func device() async throws -> UAPIDevice {
        try await exchange(.get)
    }

    /// Changes the device.
    ///
    /// - Throws: ``UAPIError/refused(number:reason:)`` if the engine refuses a value.
    package func apply(_ configuration: UAPIConfiguration) async throws {
        _ = try await exchange(.set(configuration))
    }

    private func exchange(_ request: UAPIRequest) async throws -> UAPIDevice {
        try await turn.withLock {
            let outcome = Promise<Result<UAPIDevice, UAPIError>>()
            let (place, deadline) = (place, ContinuousClock.now + timeLimit)
            let status = SystemThread.start {
                outcome.fulfil(
                    Result { () throws(UAPIError) in
                        try Self.exchange(request, at: place, until: deadline)
                    }
                )
            }
            if status != 0 { outcome.fulfil(.failure(.noThread(code: status))) }
            return try await outcome.waitIgnoringCancellation().get()
        }
    }

    private static func exchange(
        _ request: UAPIRequest,
        at place: Place,
        until deadline: ContinuousClock.Instant
    ) throws(UAPIError) -> UAPIDevice {
        // The array is this function's alone, since a shared one could not be wiped.
        var answer = try answer(to: request, at: place, until: deadline)
        defer { answer.wipe() }
        return try UAPIDevice(answer: answer)
    }

    private static func answer(
        to request: UAPIRequest,
        at place: Place,
        until deadline: ContinuousClock.Instant
    ) throws(UAPIError) -> [UInt8] {
        switch place {
        case .path(let path): return try answer(to: request, over: connect(to: path), until: deadline)
        case .connection(let connection):
            guard let owner = connection.withLock({ $0 }) else { throw .closed }
            do throws(UAPIError) {
                return try answer(to: request, over: owner, until: deadline)
            } catch {
                connection.withLock { $0 = nil }
                throw error
            }
        }
    }

    private static func answer(
        to request: UAPIRequest,
        over owner: DescriptorOwner,
        until deadline: ContinuousClock.Instant
    ) throws(UAPIError) -> [UInt8] {
        try withExtendedLifetime(owner) { () throws(UAPIError) in
            let stream = UAPIStream(owner.descriptor, until: deadline)
            var bytes = request.bytes
            defer { bytes.wipe() }
            try stream.write(bytes)
            return try stream.readAnswer(limit: UAPIDevice.byteLimit)
        }
    }

    private static func connect(to path: String) throws(UAPIError) -> DescriptorOwner {
        let descriptor = UnixSocket.make()
        guard descriptor >= 0 else { throw .unreachable(path: path, reason: Posix.lastErrorText) }
        let owner = DescriptorOwner(descriptor)
        guard UnixSocket.connect(descriptor, to: path) else {
            throw .unreachable(path: path, reason: Posix.lastErrorText)
        }
        return owner
    }
}
