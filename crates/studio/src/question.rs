//! A short question to the engine: answered by the thinking thread, to the tab that asked.

use std::sync::Arc;

use serde_json::Value;

use crate::{
    engine::Engine,
    server::App,
    tab::Tab,
    thinker::{Label, Outcome, Stop, Urgency, Work},
    wire::{Answer, Failure, Reply, Request},
};

/// What answers a question. It may be asked again if something more urgent stopped it.
type Answerer = Box<dyn FnMut(&Arc<App>, &mut Engine, &Stop) -> Result<Value, Failure> + Send>;

struct Question {
    tab: Arc<Tab>,
    id: u64,
    answerer: Answerer,
}

/// Puts a question into the queue.
pub fn ask(
    app: &Arc<App>,
    tab: &Arc<Tab>,
    request: &Request,
    (what, urgency): (&'static str, Urgency),
    doc: &str,
    answerer: impl FnMut(&Arc<App>, &mut Engine, &Stop) -> Result<Value, Failure> + Send + 'static,
) -> Answer {
    let label = Label {
        what,
        doc: doc.to_owned(),
        tab: tab.number,
    };
    let question = Question {
        tab: tab.clone(),
        id: request.id,
        answerer: Box::new(answerer),
    };
    app.thinker.push(urgency, label, Box::new(question))?;
    Ok(Reply::Later)
}

impl Work for Question {
    fn run(&mut self, app: &Arc<App>, engine: &mut Engine, stop: &Stop) -> Outcome {
        let answer = (self.answerer)(app, engine, stop);
        if stop.now() {
            return Outcome::Unfinished;
        }
        match answer {
            Ok(value) => self.tab.answer(self.id, Ok(value)),
            Err(failure) => self.tab.answer(self.id, Err(&failure)),
        }
        Outcome::Done
    }

    fn cancelled(&mut self, _app: &Arc<App>) {
        let failure = Failure::new("cancelled", "the question was cancelled");
        self.tab.answer(self.id, Err(&failure));
    }
}
