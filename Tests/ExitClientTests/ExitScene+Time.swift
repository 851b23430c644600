internal import Transport

@testable internal import ExitClient

extension ExitScene {
    /// Brings a connection that waits for a token to its tunnel with a handshake.
    func finish(_ controller: VPNController) async throws {
        if case .connecting(.waiting(let time?)) = try await controller.reach({ $0.waitEnd != nil || $0 == .shaking }) {
            clock.advance(by: time - clock.now.offset)
        }
        try await controller.reach { $0 == .shaking }
        while controller.state != .connected { try await passDeadline(of: controller) }
    }

    /// Passes the time until the lease is renewed once more and that work is done, with handshakes meanwhile.
    func passRenewal(of controller: VPNController) async throws {
        let count = tunnel.changes.count
        while tunnel.changes.count == count {
            try await passDeadline(of: controller)
            // The work of that time precedes the next one, and the caller: the new watch of a tunnel must sleep.
            try await settle(controller)
        }
    }

    /// Passes the time until the next deadline of a connection, once all earlier work is done; a handshake precedes it.
    func passDeadline(of controller: VPNController) async throws {
        try await settle(controller)
        tunnel.handshake(at: now)
        await clock.advanceToNextDeadline()
    }

    /// Waits until all work is done that needs no later time.
    private func settle(_ controller: VPNController) async throws {
        // The timer sleeps, and the watch of a tunnel.
        while !controller.isIdle || clock.sleeperCount < (tunnel.isRead ? 2 : 1) {
            if let failure = controller.state.failure { throw failure }
            try Task.checkCancellation()
            await Task.yield()
        }
    }
}
