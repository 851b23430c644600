internal import Bytes
internal import Concurrency
internal import Platform

/// Configures a tunnel engine over its socket, be it `wireguard-go` or ours.
///
/// Each request by path has a connection of its own, so that it reaches the engine that listens now. Requests wait on a
/// thread of their own, at most for the time limit.
package final class UAPIClient: Sendable {
    /// The folder of the sockets that `wg` finds by the name of the interface.
    package static let folder = "/var/run/wireguard"

    private enum Place {
        case path(String)
        case connection(DescriptorOwner)
    }

    private let place: Place
    private let timeLimit: Duration
    /// Requests on one connection are answered in turn.
    private let turn = AsyncMutex()

    /// Uses the socket at `path`.
    package init(path: String, timeLimit: Duration = .seconds(5)) {
        place = .path(path)
        self.timeLimit = timeLimit
    }

    /// Uses the socket of an interface in ``folder``.
    package convenience init(interface: String) { self.init(path: UAPISocket.path(interface: interface)) }

    /// Uses a connected stream socket, which is closed with this value.
    package init(connection descriptor: Int32, timeLimit: Duration = .seconds(5)) {
        place = .connection(DescriptorOwner(descriptor))
        self.timeLimit = timeLimit
    }

    /// Returns the state of the device with all peers.
    package func device() async throws -> UAPIDevice {
        var answer = try await exchange(.get)
        defer { answer.wipe() }
        return try UAPIDevice(answer: answer)
    }

    /// Changes the device.
    ///
    /// - Throws: ``UAPIError/refused(number:reason:)`` if the engine refuses a value.
    package func apply(_ configuration: UAPIConfiguration) async throws {
        var answer = try await exchange(.set(configuration))
        defer { answer.wipe() }
        _ = try UAPIDevice(answer: answer)
    }

    private func exchange(_ request: UAPIRequest) async throws -> [UInt8] {
        try await turn.withLock {
            let outcome = Promise<Result<[UInt8], UAPIError>>()
            let (place, deadline) = (place, ContinuousClock.now + timeLimit)
            let status = SystemThread.start {
                let result = Result { () throws(UAPIError) in
                    try Self.exchange(request, at: place, until: deadline)
                }
                outcome.fulfil(result)
            }
            if status != 0 { outcome.fulfil(.failure(.timedOut)) }
            return try await outcome.waitIgnoringCancellation().get()
        }
    }

    private static func exchange(
        _ request: UAPIRequest,
        at place: Place,
        until deadline: ContinuousClock.Instant
    ) throws(UAPIError) -> [UInt8] {
        let owner =
            switch place {
            case .path(let path): try connect(to: path)
            case .connection(let owner): owner
            }
        return try withExtendedLifetime(owner) { () throws(UAPIError) in
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
