internal import ArgumentParser
internal import CommandKit
internal import CommandModel
internal import NodeModel
internal import NodeService
internal import Platform

// The devices of this device's person, and the people who are blocked.

extension Circle {
    struct Device: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "device",
            abstract: "Use your circle on several devices of yours.",
            discussion: """
                Both devices must be connected in a network. First run `runar circle device expect` on the new device, then \
                `runar circle device add` on the one that has the circle. The new device gets your person's key, the people \
                and the streams; earlier thoughts stay on the first device.
                """,
            subcommands: [Add.self, Expect.self, Remove.self]
        )
    }
}

extension Circle.Device {
    struct Add: NetworkCommand {
        static let configuration = CommandConfiguration(
            commandName: "add",
            abstract: "Give your circle to another device of yours, which expects it.",
            discussion: """
                The device gets your person's key, the people and the streams, and every thought from now on. Earlier \
                thoughts stay here. It must have run `runar circle device expect` within the last ten minutes.
                """
        )

        @OptionGroup var device: CircleDeviceOptions
        @Flag(help: "Do not ask.")
        var yes = false
        @OptionGroup var node: NodeOptions

        var home: HomeOptions { device.home }

        func prepare() async throws {
            if yes { return }
            Output.note(
                """
                \(Terminal.quoted(device.device)) gets the key of your person, for good: it can read and write as you, also \
                after you remove it. Do this for devices of your own only.
                """
            )
            try await Prompt.requireConsent("", with: "add", otherwise: "nothing was changed")
        }

        func request() -> APIRequest<CircleReport> { Operations.addOwnDevice(device.name) }

        func show(_ report: CircleReport) throws {
            if home.output.json { return try Output.json(report) }
            try Output.line("\(device.device) is a device of yours now; it gets every thought from now on")
        }
    }

    struct Expect: ReportingCommand {
        static let configuration = CommandConfiguration(
            commandName: "expect",
            abstract: "Let another device of yours give its circle to this one, once, within ten minutes.",
            discussion: """
                A node must run here (`runar up`), and this device must have no people of its own. Run `runar circle device \
                add` on the device that has the circle afterwards. The profile, streams and thoughts of this device are deleted.
                """
        )

        @OptionGroup var device: CircleDeviceOptions
        @Flag(help: "Do not ask.")
        var yes = false

        var home: HomeOptions { device.home }

        func prepare() async throws {
            guard Session.isNodeRunning(in: try home.place()) else {
                throw CommandFailure(
                    "not-running",
                    .unavailable,
                    "no node runs here to wait for the other device: start one with `runar up`, and try again"
                )
            }
            if yes { return }
            Output.note(
                """
                The profile, streams and thoughts of this device are deleted when \(Terminal.quoted(device.device)) gives its \
                circle.
                """
            )
            try await Prompt.requireConsent("", with: "expect", otherwise: "nothing was changed")
        }

        func request() -> APIRequest<CircleReport> { Operations.expectDevice(device.name) }

        func show(_ report: CircleReport) throws {
            if home.output.json { return try Output.json(report) }
            let add = HomeHint.repeated(in: "`runar circle device add` with this device")
            try Output.line("waiting ten minutes for \(device.device): run \(add) there")
        }
    }

    struct Remove: ReportingCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove",
            abstract: "Remove a lost device of yours from the circle, after a question.",
            discussion: "Everyone in your circle learns of it, and seals nothing for the device from then on."
        )

        @OptionGroup var device: CircleDeviceOptions
        @Flag(help: "Do not ask.")
        var yes = false

        var home: HomeOptions { device.home }

        func prepare() async throws {
            if yes { return }
            Output.note(
                """
                No thought is sealed for the device from now on. It keeps your person's key and the thoughts that it has. \
                Revoke its membership too: `runar network revoke`.
                """
            )
            try await Prompt.requireConsent("", with: "remove", otherwise: "nothing was changed")
        }

        func request() -> APIRequest<CircleReport> { Operations.removeDevice(device.name) }
    }
}

extension Circle {
    struct Block: ReportingCommand {
        static let configuration = CommandConfiguration(
            commandName: "block",
            abstract: "Block a person: trust is revoked, and no request is taken until you lift the block.",
            discussion: "What `runar circle revoke` deletes is deleted. The reasons stay on your device."
        )

        @Argument(help: "The person: name, id or its beginning.")
        var person: String
        @Option(
            name: .customLong("reason"),
            help: ArgumentHelp(
                "A reason with its severity, 1 to 5; several are possible.",
                valueName: "text=severity"
            )
        )
        var reasons: [String] = []
        @OptionGroup var home: HomeOptions

        func validate() throws { _ = try severities() }

        func request() throws -> APIRequest<CircleReport> {
            Operations.block(PersonName(person), BlockForm(reasons: try severities()))
        }

        private func severities() throws -> [String: Int] {
            var severities: [String: Int] = [:]
            for reason in reasons {
                guard let place = reason.lastIndex(of: "="), place > reason.startIndex,
                    let severity = Int(reason[reason.index(after: place)...]), 1...5 ~= severity
                else { throw ValidationError("Give each reason as TEXT=SEVERITY, with a severity of 1 to 5.") }
                severities[String(reason[..<place])] = severity
            }
            return severities
        }
    }

    struct Unblock: ReportingCommand {
        static let configuration = CommandConfiguration(
            commandName: "unblock",
            abstract: "Lift the block of a person.",
            discussion: """
                The person's devices may connect again. Trust returns once one of you asks and the other accepts.
                """
        )

        @OptionGroup var person: PersonOptions

        var home: HomeOptions { person.home }

        func request() -> APIRequest<CircleReport> { Operations.unblock(person.name) }
    }
}

/// Another device of this device's person.
struct CircleDeviceOptions: ParsableArguments {
    @Argument(help: "The device: id, its beginning, or label.")
    var device: String
    @OptionGroup var home: HomeOptions

    var name: PeerName { PeerName(device) }
}
