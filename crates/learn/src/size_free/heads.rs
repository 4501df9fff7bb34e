//! What is read off the trunk: policy with pass, value, lead, spread and ownership.

use net::training::LANES;

use super::conv::Conv1;
use super::planes::{self, Group, Planes};
use super::pool::{Pool, Pooling};
use super::rows::Rows;
use super::{HEAD, narrowed, rectify, unrectify, widened, zero};
use crate::batch::Workers;

pub(super) struct PolicyHead {
    pub(super) local: Conv1,
    pub(super) pooled: Conv1,
    pub(super) bias: Rows,
    pub(super) last: Conv1,
    pub(super) pass: Rows,
    pub(super) z_local: Planes,
    pub(super) a_pooled: Planes,
    pub(super) a_local: Planes,
    pub(super) pool: Pool,
    pub(super) logits: Planes,
}

pub(super) struct ValueHead {
    pub(super) conv: Conv1,
    pub(super) hidden: Rows,
    pub(super) out: Rows,
    pub(super) ownership: Conv1,
    pub(super) a: Planes,
    pub(super) pool: Pool,
    pub(super) hidden_rows: Vec<f32>,
    pub(super) owners: Planes,
}

impl PolicyHead {
    pub(super) fn forward(
        &mut self,
        groups: &[Group],
        trunk: &Planes,
        workers: &mut Workers,
    ) -> Vec<Vec<f32>> {
        self.pooled
            .forward(groups, trunk, &mut self.a_pooled, workers);
        rectify(&mut self.a_pooled);
        self.pool
            .forward(Pooling::ScaledMax, groups, &self.a_pooled);
        self.local
            .forward(groups, trunk, &mut self.z_local, workers);
        let bias = widened(&self.bias.forward(&self.pool.rows), HEAD);
        planes::add_rows(groups, &mut self.z_local, &bias);
        self.a_local.clone_from(&self.z_local);
        rectify(&mut self.a_local);
        self.last
            .forward(groups, &self.a_local, &mut self.logits, workers);
        let mut passes = self.pass.forward(&self.pool.rows).into_iter();
        let mut policy = Vec::new();
        for (group, logits) in groups.iter().zip(&self.logits.groups) {
            let mut rows = Vec::with_capacity(group.samples * (group.board.points() + 1));
            for sample in logits.chunks_exact(group.board.sample(1)) {
                rows.extend(sample.iter().step_by(LANES));
                rows.push(passes.next().expect("a pass for every sample"));
            }
            policy.push(rows);
        }
        policy
    }

    pub(super) fn backward(
        &mut self,
        groups: &[Group],
        trunk: &Planes,
        gradient: &[Vec<f32>],
        dx: &mut Planes,
        workers: &mut Workers,
    ) {
        let mut dlogits = Planes::default();
        zero(&mut dlogits, 1, groups);
        let mut passes = Vec::new();
        for ((group, rows), target) in groups.iter().zip(gradient).zip(&mut dlogits.groups) {
            let points = group.board.points();
            for (row, target) in rows
                .chunks_exact(points + 1)
                .zip(target.chunks_exact_mut(group.board.sample(1)))
            {
                target
                    .iter_mut()
                    .step_by(LANES)
                    .zip(row)
                    .for_each(|(target, value)| *target = *value);
                passes.push(row[points]);
            }
        }
        let mut dlocal = Planes::default();
        zero(&mut dlocal, HEAD, groups);
        self.last
            .backward(groups, &self.a_local, &dlogits, &mut dlocal, workers);
        unrectify(&mut dlocal, &self.a_local);
        let bias = narrowed(&planes::sum_rows(groups, &dlocal), HEAD);
        let mut rows = self.bias.backward(&self.pool.rows, &bias, &bias);
        let through_pass = self.pass.backward(&self.pool.rows, &passes, &passes);
        rows.iter_mut()
            .zip(through_pass)
            .for_each(|(sum, more)| *sum += more);
        self.local.backward(groups, trunk, &dlocal, dx, workers);
        let mut dpooled = Planes::default();
        zero(&mut dpooled, HEAD, groups);
        self.pool
            .backward(Pooling::ScaledMax, groups, &rows, &mut dpooled);
        unrectify(&mut dpooled, &self.a_pooled);
        self.pooled.backward(groups, trunk, &dpooled, dx, workers);
    }
}

impl ValueHead {
    pub(super) fn forward(
        &mut self,
        groups: &[Group],
        trunk: &Planes,
        workers: &mut Workers,
    ) -> (Vec<f32>, Vec<Vec<f32>>) {
        self.conv.forward(groups, trunk, &mut self.a, workers);
        rectify(&mut self.a);
        self.pool.forward(Pooling::ScaledSquared, groups, &self.a);
        self.hidden_rows = self.hidden.forward(&self.pool.rows);
        let value = self.out.forward(&self.hidden_rows);
        self.ownership
            .forward(groups, &self.a, &mut self.owners, workers);
        let owners = self.owners.groups.iter();
        (
            value,
            owners
                .map(|group| group.iter().copied().step_by(LANES).collect())
                .collect(),
        )
    }

    pub(super) fn backward(
        &mut self,
        groups: &[Group],
        trunk: &Planes,
        value: &[f32],
        ownership: &[Vec<f32>],
        dx: &mut Planes,
        workers: &mut Workers,
    ) {
        let mut downers = Planes::default();
        zero(&mut downers, 1, groups);
        for (target, rows) in downers.groups.iter_mut().zip(ownership) {
            target
                .iter_mut()
                .step_by(LANES)
                .zip(rows)
                .for_each(|(target, value)| *target = *value);
        }
        let mut da = Planes::default();
        zero(&mut da, HEAD, groups);
        self.ownership
            .backward(groups, &self.a, &downers, &mut da, workers);
        let hidden = self.out.backward(&self.hidden_rows, value, value);
        let rows = self
            .hidden
            .backward(&self.pool.rows, &self.hidden_rows, &hidden);
        self.pool
            .backward(Pooling::ScaledSquared, groups, &rows, &mut da);
        unrectify(&mut da, &self.a);
        self.conv.backward(groups, trunk, &da, dx, workers);
    }
}
