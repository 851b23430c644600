internal import Concurrency
internal import Foundation

/// Starts the members, has some of them leave, crash and join, and adds up their reports.
final class Conductor: Sendable {
    private static let members = 20
    /// The first ones stay to the end: their memory is looked at.
    private static let residents = 6
    /// The number of residents that each new member dials.
    private static let seeds = 3
    private static let changePause = 2
    /// The growth that a member may show between the middle of the run and its end: a tenth, and some allocator pages.
    private static let growthPart = 10
    /// The shortest run whose second half shows growth; before that caches and pools fill.
    private static let flatSeconds = 60
    private static let growthKibibytes = 8192

    /// A process and its latest report.
    private struct Part: Sendable {
        let process: ChildMember
        let isResident: Bool
        var figures = Figures()
        /// The largest resident memory seconds ago: at the middle of the run.
        var middleKibibytes = 0
    }

    private struct State: Sendable {
        var parts: [Int: Part] = [:]
        /// The sum of the figures of members that left.
        var past = Figures()
        var joined = 0
        var left = 0
        var crashed = 0
        var died: [String] = []
    }

    private let seconds: Int
    private let ticket = Ticket()
    private let state = Locked(State())

    init(seconds: Int) { self.seconds = seconds }

    /// Whether everything was as it should be.
    func run() async throws -> Bool {
        defer { stopAll() }
        var seeds: [String] = []
        for number in 0..<Self.members {
            let isResident = number < Self.residents
            let address = try await join(number, seeds: Array(seeds.suffix(Self.seeds)), isResident: isResident)
            if isResident { seeds.append(address) }
        }
        print("\(Self.members) members; one leaves or crashes and another one joins every \(Self.changePause) s")
        fflush(nil)
        var next = Self.members
        for second in 1...seconds {
            try await Task.sleep(for: .seconds(1))
            if second == seconds / 2 { noteMiddle() }
            if second % Self.changePause == 0, second < seconds - 10 {
                leave(isCrash: second % (2 * Self.changePause) == 0)
                _ = try await join(next, seeds: Array(seeds.shuffled().prefix(Self.seeds)), isResident: false)
                next += 1
            }
            if second % max(seconds / 6, 10) == 0 { printLine(second) }
        }
        return report()
    }

    private func join(_ number: Int, seeds: [String], isResident: Bool) async throws -> String {
        let process = try ChildMember(arguments: ["member", ticket.text] + seeds)
        state.withLock { state in
            state.parts[number] = Part(process: process, isResident: isResident)
            if number >= Self.members { state.joined += 1 }
        }
        let (address, said) = (Locked<String?>(nil), AsyncStream.makeStream(of: String.self))
        process.read { [self] line in
            if address.withLock({ first in
                guard first == nil else { return false }
                first = line
                return true
            }) {
                said.continuation.yield(line)
                return
            }
            note(line, of: number)
        } ended: { [self] in
            said.continuation.finish()
            noteEnd(of: number)
        }
        var lines = said.stream.makeAsyncIterator()
        guard let address = await lines.next() else { throw SoakError("member \(number) did not start") }
        return address
    }

    private func note(_ line: String, of number: Int) {
        do {
            let figures = try JSONDecoder().decode(Figures.self, from: Data(line.utf8))
            state.withLock { $0.parts[number]?.figures = figures }
        } catch {
            state.withLock { $0.died.append("member \(number) said \(line)") }
        }
    }

    /// Records a member that ended by itself.
    ///
    /// Only the conductor may end a member.
    private func noteEnd(of number: Int) {
        state.withLock { state in
            guard let part = state.parts.removeValue(forKey: number) else { return }
            state.past.add(part.figures)
            state.died.append("member \(number) ended by itself")
        }
    }

    private func leave(isCrash: Bool) {
        state.withLock { state in
            let guests = state.parts.filter { !$0.value.isResident }
            guard let (number, part) = guests.randomElement() else { return }
            state.parts[number] = nil
            state.past.add(part.figures)
            if isCrash { state.crashed += 1 } else { state.left += 1 }
            part.process.end(isCrash: isCrash)
        }
    }

    private func noteMiddle() {
        state.withLock { state in
            for (number, part) in state.parts {
                state.parts[number]?.middleKibibytes = part.figures.residentKibibytes
            }
        }
    }

    private func stopAll() {
        let parts = state.withLock { state in
            defer { state.parts = [:] }
            return state.parts.values.map(\.process)
        }
        for process in parts { process.end(isCrash: true) }
    }

    // MARK: Results

    private func total() -> Figures {
        state.withLock { state in
            state.parts.values.reduce(into: state.past) { $0.add($1.figures) }
        }
    }

    private func printLine(_ second: Int) {
        let sum = total()
        print(
            "\(second) s: \(sum.requests) requests, \(sum.events) events, \(sum.puts) records put, \(sum.gets) got,",
            "\(sum.failures) failed, \(sum.wrong) wrong"
        )
        fflush(nil)  // so that a file or a pipe has the line now
    }

    private func report() -> Bool {
        let sum = total()
        let (state, seconds) = (state.withLock { $0 }, seconds)
        let residents = state.parts.filter(\.value.isResident).sorted { $0.key < $1.key }.map(\.value)
        print("\nafter \(seconds) s: \(state.left) left, \(state.crashed) crashed, \(state.joined) joined")
        print("requests  \(sum.requests), \(sum.failures) failed \(sum.lastFailure)")
        print("events    \(sum.published) published, \(sum.events) delivered")
        print("records   \(sum.puts) put, \(sum.gets) got")
        print("wrong     \(sum.wrong) \(sum.lastWrong)")
        var isFlat = residents.count == Self.residents
        for part in residents {
            let (middle, end) = (part.middleKibibytes, part.figures.residentKibibytes)
            print("memory    \(middle / 1024) MiB in the middle, \(end / 1024) MiB at the end")
            let mayGrow = seconds < Self.flatSeconds
            if !mayGrow, end > middle + middle / Self.growthPart + Self.growthKibibytes { isFlat = false }
        }
        for what in state.died { print("died      \(what)") }
        let worked = sum.requests > 0 && sum.events > 0 && sum.gets > 0
        if !isFlat { print("a process grew, or one of those that stay is gone") }
        if !worked { print("not everything was tried") }
        return sum.wrong == 0 && isFlat && worked && state.died.isEmpty
    }
}
