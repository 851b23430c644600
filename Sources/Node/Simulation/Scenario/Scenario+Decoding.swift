internal import Mailbox
internal import Transport

extension Scenario {
    /// Reads a scenario from JSON; an unknown or missing field or a value out of bounds is refused with its path.
    public init(json: some Collection<UInt8>) throws(ScenarioError) {
        var fields = try ScenarioFields(text: Array(json))
        self.init(
            name: try fields.text("name"),
            summary: try fields.text("summary"),
            nodeCount: try fields.count("nodes", in: 1...Self.nodeLimit),
            duration: try fields.duration("duration")
        )
        signatures = try fields.word("signatures", or: .hashed)
        let network = try fields.object("network") { fields throws(ScenarioError) in try NetworkModel(&fields) }
        self.network = network ?? NetworkModel()
        let clocks = try fields.object("clocks") { fields throws(ScenarioError) in
            ClockModel(skew: try fields.duration("skew", or: .zero))
        }
        self.clocks = clocks ?? ClockModel()
        let contacts = try fields.object("contacts") { fields throws(ScenarioError) in
            Contacts(
                pattern: try fields.word("pattern", or: nil),
                count: try fields.count("count", in: 1...1000, or: 1)
            )
        }
        self.contacts = contacts ?? Contacts()
        self.network.local = try fields.object("localNetwork") { fields throws(ScenarioError) in
            try LocalNetworkModel(&fields)
        }
        hostility = try fields.object("hostile") { fields throws(ScenarioError) in
            Hostility(
                share: try fields.share("share", or: 0),
                besiegedKeys: try fields.count("besiegedKeys", in: 0...1000, or: 0),
                besiegers: try fields.count("besiegers", in: 1...20, or: 16)
            )
        }
        if fields.names.contains("keptConnections") {
            keptConnections = try fields.count("keptConnections", in: 1...100_000)
        }
        steps = try fields.objects("steps") { fields throws(ScenarioError) in try Step(&fields) }
        expectations = try fields.objects("expect") { fields throws(ScenarioError) in try Expectation(&fields) }
        try fields.finish()
    }
}

extension NetworkModel {
    fileprivate init(_ fields: inout ScenarioFields) throws(ScenarioError) {
        self.init()
        let roundTrip = try fields.object("roundTrip") { fields throws(ScenarioError) in
            try RoundTrip(&fields)
        }
        if let roundTrip { self.roundTrip = roundTrip }
        jitter = try fields.duration("jitter", or: jitter)
        loss = try fields.share("loss", or: loss)
        asymmetry = try fields.share("asymmetry", or: asymmetry)
        dialTimeout = try fields.duration("dialTimeout", or: dialTimeout)
        idleTimeout = try fields.duration("idleTimeout", or: idleTimeout)
    }
}

extension NetworkModel.RoundTrip {
    fileprivate init(_ fields: inout ScenarioFields) throws(ScenarioError) {
        if let (low, high) = try fields.range("uniform") {
            self = .uniform(low, high)
        } else if let (low, high) = try fields.range("coordinates") {
            self = .coordinates(low, high)
        } else {
            self = .fixed(try fields.duration("fixed"))
        }
    }
}

extension Scenario.Step {
    fileprivate init(_ fields: inout ScenarioFields) throws(ScenarioError) {
        at = try fields.duration("at")
        var actions: [Scenario.Action] = []
        for name in Scenario.Action.names {
            let action = try fields.object(name) { fields throws(ScenarioError) in
                try Scenario.Action(name, &fields)
            }
            if let action { actions.append(action) }
        }
        guard let action = actions.first, actions.count == 1 else {
            let names = Scenario.Action.names.joined(separator: ", ")
            throw .invalid(path: fields.path(to: "at"), reason: "needs exactly one action next to it: \(names)")
        }
        self.action = action
    }
}

extension Scenario.Action {
    static let names = [
        "start", "partition", "revoke", "clockJump", "churn", "put", "update", "get", "lookup", "publish",
        "mail", "exchangeKeys", "seal", "silence", "measure",
    ]

    fileprivate init(_ name: String, _ fields: inout ScenarioFields) throws(ScenarioError) {
        switch name {
        case "start":
            let isLimited = fields.names.contains("count")
            let count = try fields.count("count", in: 1...Scenario.nodeLimit, or: 1)
            self = .start(count: isLimited ? count : nil, over: try fields.duration("over", or: .zero))
        case "partition":
            self = .partition(
                share: try fields.share("share"),
                lasting: try fields.duration("lasting"),
                isOneWay: try fields.flag("oneWay")
            )
        case "revoke": self = .revoke(count: try fields.count("count", in: 1...1000, or: 1))
        case "clockJump":
            self = .clockJump(
                share: try fields.share("share"),
                by: try fields.duration("by"),
                isBackwards: try fields.flag("backwards")
            )
        case "churn": self = .churn(try Scenario.Churn(&fields))
        case "exchangeKeys": self = .exchangeKeys
        case "silence": self = .silence(share: try fields.share("share"))
        default: self = try Self.request(name, &fields)
        }
    }

    private static func request(
        _ name: String,
        _ fields: inout ScenarioFields
    ) throws(ScenarioError) -> Scenario.Action {
        switch name {
        case "put":
            return .put(
                try Scenario.Work(&fields),
                valueByteCount: try fields.count("valueBytes", in: 0...65_536, or: 100),
                lifetime: try fields.duration("lifetime", or: .seconds(6 * 86_400))
            )
        case "update": return .update(try Scenario.Work(&fields))
        case "get": return .get(try Scenario.Work(&fields), try fields.word("reading", or: .agreeing))
        case "lookup": return .lookup(try Scenario.Work(&fields))
        case "publish":
            return .publish(
                Scenario.Publishing(
                    work: try Scenario.Work(&fields),
                    byteCount: try fields.count("eventBytes", in: 0...65_536, or: 100),
                    isByAnybody: try fields.flag("byAnybody"),
                    isWarmUp: try fields.flag("warmUp")
                )
            )
        case "mail":
            return .mail(
                try Scenario.Work(&fields),
                // The bytes are random, and distinguish mails.
                byteCount: try fields.count("mailBytes", in: 16...Mail.bodyByteLimit, or: 1000),
                lifetime: try fields.duration("lifetime", or: .seconds(86_400))
            )
        case "seal":
            return .seal(
                try Scenario.Work(&fields),
                byteCount: try fields.count("messageBytes", in: 0...1_000_000, or: 100)
            )
        default:
            let every = try fields.duration("every", or: .zero)
            let lasting = try fields.duration("lasting", or: .zero)
            guard lasting == .zero || every >= .seconds(1) else {
                throw .invalid(path: fields.path(to: "every"), reason: "must be at least \"1s\"")
            }
            return .measure(try fields.word("what", or: nil), every: every, lasting: lasting)
        }
    }
}

extension Scenario.Work {
    fileprivate init(_ fields: inout ScenarioFields) throws(ScenarioError) {
        count = try fields.count("count", in: 1...10_000_000)
        over = try fields.duration("over", or: .zero)
    }
}

extension Scenario.Churn {
    fileprivate init(_ fields: inout ScenarioFields) throws(ScenarioError) {
        sessions = try fields.quantiles("sessions")
        absences = try fields.quantiles("absences")
        returning = try fields.share("returning")
        abrupt = try fields.share("abrupt", or: 1)
        lasting = try fields.duration("lasting")
        isIndependent = try fields.flag("independent")
    }
}

extension LocalNetworkModel {
    fileprivate init(_ fields: inout ScenarioFields) throws(ScenarioError) {
        size = try fields.count("size", in: 1...Scenario.nodeLimit)
        link = LinkModel(
            latency: try fields.duration("latency", or: .milliseconds(1)),
            jitter: try fields.duration("jitter", or: .milliseconds(4)),
            loss: try fields.share("loss", or: 0),
            reordering: try fields.share("reordering", or: 0),
            duplication: try fields.share("duplication", or: 0)
        )
        knows = try fields.word("knows", or: .secret)
    }
}

extension Scenario.Expectation {
    fileprivate init(_ fields: inout ScenarioFields) throws(ScenarioError) {
        figure = try fields.text("figure")
        for relation in Relation.allCases where fields.names.contains(relation.rawValue) {
            self.relation = relation
            bound = try fields.number(relation.rawValue)
            return
        }
        let relations = Relation.allCases.map(\.rawValue).joined(separator: ", ")
        throw .invalid(path: fields.path(to: "figure"), reason: "needs one of \(relations) next to it")
    }
}
