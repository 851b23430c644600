internal import Testing

@testable internal import Platform

@Suite("Answer window") struct AnswerWindowTests {
    @Test func `an answer counts for its time, and not after a refusal`() {
        var window = AnswerWindow()
        #expect(!window.isOpen(at: .zero))
        window.open(at: .seconds(10))
        let end = .seconds(10) + AnswerWindow.duration
        #expect(window.isOpen(at: .seconds(10)) && window.isOpen(at: end - .nanoseconds(1)))
        #expect(!window.isOpen(at: end))
        window.close()
        #expect(!window.isOpen(at: .seconds(10)))
    }

    @Test func `Apple's systems accept the time of an answer`() {
        // LATouchIDAuthenticationMaximumAllowableReuseDuration
        #expect(AnswerWindow.duration <= .seconds(300))
    }
}
