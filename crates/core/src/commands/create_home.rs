//! Makes a home. Making it again changes nothing.

use crate::StreamId;
use crate::decision::Draft;
use crate::event::{Event, HomeEvent};

/// The rule.
pub fn decide(draft: &mut Draft<'_>) {
    if draft.home().store.is_none() {
        let store = draft.ids.mint();
        draft.emit(StreamId::Home, Event::Home(HomeEvent::Made { store }));
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::HomeCommand;
    use crate::testing::{Scene, on_home};

    #[test]
    fn a_home_is_made_once() {
        let mut scene = Scene::new();
        scene.run(on_home(HomeCommand::Create));
        scene.check(
            on_home(HomeCommand::Create),
            expect![[r#"
            in effect already
        "#]],
        );
    }
}
