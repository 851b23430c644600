internal import ArgumentParser
internal import Bytes
internal import Foundation
internal import Identity
internal import NodeService
internal import Platform

/// Shows which services there are.
struct Services: NetworkCommand {
    static let configuration = CommandConfiguration(
        abstract: "List the services of this device and of everybody who is connected, with their actions."
    )

    @Argument(help: "The peer whose services are listed; everybody's without it.")
    var peer: String?
    @Option(help: "The network; not needed if there is one only.")
    var network: String?
    @OptionGroup var home: HomeOptions
    @OptionGroup var node: NodeOptions

    func request() -> APIRequest<ServicesReport> {
        .services(peer.map { PeerName($0) }, network: network.map { NetworkName($0) })
    }
}

/// Asks a service something.
struct Call: NetworkCommand {
    static let configuration = CommandConfiguration(
        abstract: "Ask a service something, and print what it answers.",
        discussion: """
            `runar call math/add '{"a": 5, "b": 3}'`; with - the payload is what standard input has. The payload is \
            JSON, so that a text stands in quotation marks of its own: '"on"'. This device answers if it offers the \
            service, otherwise one after the other of those that do, unless --peer says whom to ask.
            """
    )

    @Argument(help: "The service and its action, as in math/add.")
    var path: String
    @Argument(help: "What to send along, as JSON; - is standard input.")
    var payload: String?
    @Option(help: "Ask this peer and nobody else.")
    var peer: String?
    @Option(help: ArgumentHelp("How long it may take, as in 30s.", valueName: "duration"))
    var timeout: String?
    @Flag(help: "Asking twice does no harm: if who was asked goes away, ask another one.")
    var idempotent = false
    @Option(help: "The network; not needed if there is one only.")
    var network: String?
    @OptionGroup var home: HomeOptions
    @OptionGroup var node: NodeOptions

    func request() throws -> APIRequest<CalledReport> {
        let path = try TopicArgument(path, network: network)
        guard !path.path.isPattern, path.path.segments.count > 1 else {
            throw CommandFailure(
                "bad-path",
                .usage,
                "\"\(path.path.path)\" is no action: give the service, a slash and one of its actions, as in math/add"
            )
        }
        return .call(
            CallForm(
                path: path.path.path,
                network: path.network?.text,
                base64: Base64.encode(Array(try content())),
                peer: peer,
                timeoutSeconds: try timeout.map { try DurationText.parse($0).seconds },
                idempotent: idempotent
            )
        )
    }

    private func content() throws -> Data {
        guard let payload else { return Data() }
        let bytes =
            payload == "-"
            ? try InputText.bytes("-", limit: Serve.payloadByteLimit, otherwise: "store it, and send where it is")
            : Array(payload.utf8)
        do {
            _ = try JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
        } catch {
            throw CommandFailure(
                "bad-payload",
                .usage,
                "the payload is no JSON: numbers as they are, texts in quotation marks of their own, as in '\"on\"'"
            )
        }
        return Data(bytes)
    }
}
