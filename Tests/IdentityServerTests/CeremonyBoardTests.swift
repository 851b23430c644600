internal import Platform
internal import RegistrationModel
internal import Testing

@testable internal import IdentityServer

/// Polls that wait: a time limit ends a test in which none is woken.
@Suite("Waiting for the end of a ceremony", .timeLimit(.minutes(1))) struct CeremonyBoardTests {
    private let board = CeremonyBoard(
        Clocks(monotonic: { .zero }, wallSeconds: { 0 }),
        patience: .seconds(24 * 3600)
    )

    private func code(_ state: CommandCeremony.State) -> String {
        switch state {
        case .waiting: "waiting"
        case .done: "done"
        case .failed(let code, _): code
        }
    }

    /// Suspends until `count` requests wait for a ceremony.
    private func wait(for count: Int, at id: String, _ board: CeremonyBoard) async {
        while board.waiterCounts[id, default: 0] != count { await Task.yield() }
    }

    @Test func `the end of a ceremony answers a waiting poll`() async throws {
        let (ceremony, secret) = try board.begin(.authenticate(handle: nil), from: nil)
        let board = board
        async let state = board.result(of: ceremony.id, secret: secret)
        await wait(for: 1, at: ceremony.id, board)
        try board.end(ceremony.id, as: .failed(code: "ended", message: ""))
        #expect(code(try await state) == "ended")
        #expect(board.waiterCounts.isEmpty)
    }

    @Test func `one of several waiting polls gets the end`() async throws {
        let (ceremony, secret) = try board.begin(.authenticate(handle: nil), from: nil)
        let board = board
        let codes = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    do {
                        return code(try await board.result(of: ceremony.id, secret: secret))
                    } catch IdentityServerError.noSuchCeremony {
                        return "nothing"
                    }
                }
            }
            await wait(for: 4, at: ceremony.id, board)
            // A further poll is answered at once.
            #expect(code(try await board.result(of: ceremony.id, secret: secret)) == "waiting")
            try board.end(ceremony.id, as: .failed(code: "ended", message: ""))
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(codes.sorted() == ["ended", "nothing", "nothing", "nothing"])
        #expect(board.waiterCounts.isEmpty)
    }

    @Test func `a server that stops answers waiting polls, and later ones at once`() async throws {
        let (ceremony, secret) = try board.begin(.authenticate(handle: nil), from: nil)
        let board = board
        async let state = board.result(of: ceremony.id, secret: secret)
        await wait(for: 1, at: ceremony.id, board)
        board.stopWaiting()
        #expect(code(try await state) == "waiting")
        #expect(code(try await board.result(of: ceremony.id, secret: secret)) == "waiting")
        #expect(board.waiterCounts.isEmpty)
    }

    @Test func `a cancellation by the program answers its waiting poll`() async throws {
        let (ceremony, secret) = try board.begin(.authenticate(handle: nil), from: nil)
        let board = board
        async let state = board.result(of: ceremony.id, secret: secret)
        await wait(for: 1, at: ceremony.id, board)
        try board.cancel(ceremony.id, secret: secret)
        do {
            _ = try await state
            Issue.record("the poll got a state")
        } catch {
            #expect(error as? IdentityServerError == .noSuchCeremony)
        }
    }

    @Test func `the end of another ceremony wakes no poll`() async throws {
        let (ceremony, secret) = try board.begin(.authenticate(handle: nil), from: nil)
        let (other, _) = try board.begin(.authenticate(handle: nil), from: nil)
        let board = board
        async let state = board.result(of: ceremony.id, secret: secret)
        await wait(for: 1, at: ceremony.id, board)
        try board.end(other.id, as: .failed(code: "other", message: ""))
        #expect(board.waiterCounts == [ceremony.id: 1])
        try board.end(ceremony.id, as: .failed(code: "ended", message: ""))
        #expect(code(try await state) == "ended")
    }

    @Test func `a poll with another secret does not wait`() async throws {
        let (ceremony, _) = try board.begin(.authenticate(handle: nil), from: nil)
        await #expect(throws: IdentityServerError.noSuchCeremony) {
            _ = try await board.result(of: ceremony.id, secret: "another")
        }
        #expect(board.waiterCounts.isEmpty)
    }

    @Test func `a poll without an end is answered after its patience, and leaves nothing`() async throws {
        let hasty = CeremonyBoard(Clocks(monotonic: { .zero }, wallSeconds: { 0 }), patience: .zero)
        let (ceremony, secret) = try hasty.begin(.authenticate(handle: nil), from: nil)
        #expect(code(try await hasty.result(of: ceremony.id, secret: secret)) == "waiting")
        #expect(hasty.waiterCounts.isEmpty)
    }

    @Test func `a poll whose request is cancelled ends, and leaves nothing`() async throws {
        let (ceremony, secret) = try board.begin(.authenticate(handle: nil), from: nil)
        let board = board
        let codes = try await withThrowingTaskGroup(of: String.self) { group in
            group.addTask { code(try await board.result(of: ceremony.id, secret: secret)) }
            await wait(for: 1, at: ceremony.id, board)
            group.cancelAll()
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(codes == ["waiting"])
        #expect(board.waiterCounts.isEmpty)
        #expect(try board.waiting(ceremony.id).id == ceremony.id)
    }

    @Test func `an end that arrives with a cancellation is left for the next poll`() async throws {
        let (ceremony, secret) = try board.begin(.authenticate(handle: nil), from: nil)
        let board = board
        let codes = try await withThrowingTaskGroup(of: String.self) { group in
            group.addTask { code(try await board.result(of: ceremony.id, secret: secret)) }
            await wait(for: 1, at: ceremony.id, board)
            group.cancelAll()
            try board.end(ceremony.id, as: .failed(code: "ended", message: ""))
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(codes == ["waiting"])
        #expect(code(try await board.result(of: ceremony.id, secret: secret)) == "ended")
    }
}
